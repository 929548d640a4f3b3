/**
 * Shares runs of one job between callers, without a timer: the first caller's run starts at once, and
 * those who come while it is under way share the next one. Never two runs at a time, and what a caller
 * did before calling is always seen by the run that it waits for. After a job its `rest` is still to be
 * done before the next run, and no caller waits for that.
 */
export const sharedRun = (job: () => Promise<void>, rest?: () => Promise<void>): (() => Promise<void>) => {
  let current: Promise<void> | null = null;
  let following: Promise<void> | null = null;

  const begin = (): Promise<void> => {
    const mine = job();
    const whole = rest ? mine.then(rest) : mine;
    const clear = () => {
      current = null;
    };
    current = whole;
    void whole.then(clear, clear);
    return mine;
  };

  return () => {
    if (following) return following;
    if (!current) return begin();
    const before = current.catch(() => {});
    following = before.then(() => {
      following = null;
      return begin();
    });
    return following;
  };
};

/** A job that runs `waitMs` after it was first asked for, once for all who ask meanwhile. Those get null. */
export const gatheredRun = (job: () => Promise<void>, waitMs: number): (() => Promise<void> | null) => {
  let isGathering = false;
  const gather = async () => {
    await scheduler.wait(waitMs);
    isGathering = false;
    await job();
  };
  return () => {
    if (isGathering) return null;
    isGathering = true;
    return gather();
  };
};
