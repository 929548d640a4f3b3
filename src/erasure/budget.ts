/** How much one run of an alarm does. What is left waits for the next one. */
export interface Budget {
  /** Returns false if so many more queries would be too many, or the time is over. */
  spend: (queries: number) => boolean;
}

/**
 * The time ends a run only after `minQueries`: a run that repeats some steps would otherwise never come further, where the way to
 * the database and back takes a quarter of a second.
 */
export const openBudget = (maxQueries: number, maxMs: number, minQueries = 0): Budget => {
  const endMs = Date.now() + maxMs;
  let spent = 0;
  return {
    spend: (queries) => {
      spent += queries;
      return spent <= maxQueries && (spent <= minQueries || Date.now() < endMs);
    },
  };
};
