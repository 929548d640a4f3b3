/** Returns the result of `work`, or throws if it takes longer than `ms`. */
export const within = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  const timer = new AbortController();
  const timeOut = async (): Promise<never> => {
    await scheduler.wait(ms, { signal: timer.signal });
    throw new Error(`No answer within ${ms} ms.`);
  };
  try {
    return await Promise.race([work, timeOut()]);
  } finally {
    timer.abort();
  }
};
