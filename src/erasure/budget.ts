/** How much one run of an alarm does. What is left waits for the next one. */
export interface Budget {
  /** Returns false if so many more queries would be too many, or the time is over. */
  spend: (queries: number) => boolean;
}

export const openBudget = (maxQueries: number, maxMs: number): Budget => {
  const endMs = Date.now() + maxMs;
  let left = maxQueries;
  return {
    spend: (queries) => {
      left -= queries;
      return left >= 0 && Date.now() < endMs;
    },
  };
};
