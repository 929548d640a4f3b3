/** D1 reports the violated constraint only in the error's message, and drizzle may wrap that error. */
const violates = (error: unknown, constraint: string): boolean => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause.message.includes(constraint)) return true;
  }
  return false;
};

export const violatesUnique = (error: unknown, columns: string): boolean =>
  violates(error, `UNIQUE constraint failed: ${columns}`);

export const violatesNotNull = (error: unknown, column: string): boolean =>
  violates(error, `NOT NULL constraint failed: ${column}`);

/** Whether D1 failed, as opposed to our own code. */
export const isDatabaseError = (error: unknown): boolean => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    // An error that a gate throws arrives without its cause, so only drizzle's message is left.
    if (cause.message.startsWith('D1_') || cause.message.startsWith('Failed query')) return true;
  }
  return false;
};

/** Whether SQLite itself rejected a batch, which is then rolled back. Other errors leave open whether it was committed. */
export const isRejected = (error: unknown): boolean => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (/\bSQLITE_(ERROR|CONSTRAINT)/.test(cause.message)) return true;
  }
  return false;
};

/** Whether a write was refused because its account moves to another database, or has moved. Then it changed nothing. */
export const isFenced = (error: unknown): boolean => violatesNotNull(error, 'moved_accounts.id');
