/** D1 reports a constraint in words only; drizzle may wrap them. */
export const violatesUnique = (error: unknown, columns: string): boolean => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause.message.includes(`UNIQUE constraint failed: ${columns}`)) return true;
  }
  return false;
};

/** D1 itself said no, as against a fault of ours. */
export const isDatabaseError = (error: unknown): boolean => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    // From a gate drizzle's own words arrive, without the cause.
    if (cause.message.startsWith('D1_') || cause.message.startsWith('Failed query')) return true;
  }
  return false;
};
