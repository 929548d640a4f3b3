/** Counts calls in intervals, which are as long as those between renewals. */
export const openRecentCalls = (startedMs: number, intervalMs: () => number) => {
  let sinceMs = startedMs;
  let count = 0;
  let before = 0;

  const rotate = (nowMs: number) => {
    const elapsedMs = nowMs - sinceMs;
    if (elapsedMs >= 0 && elapsedMs < intervalMs()) return;
    before = elapsedMs < 2 * intervalMs() ? count : 0;
    count = 0;
    sinceMs = nowMs;
  };

  return {
    note: (nowMs: number) => {
      rotate(nowMs);
      count++;
    },

    /** Returns the calls in the present interval or in the one before, whichever are more. */
    count: (nowMs: number): number => {
      rotate(nowMs);
      return Math.max(count, before);
    },
  };
};
