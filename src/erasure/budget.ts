/** How much one run of an alarm does. What is left waits for the next one. */
export interface Budget {
  /** Returns false if so many more queries would be too many, or the time is over. */
  spend: (queries: number) => boolean;
}

/**
 * A run may make `minQueries` however long they take. Where a round trip takes a quarter of a second, a run whose first steps repeat
 * those of the one before would otherwise never get further.
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
