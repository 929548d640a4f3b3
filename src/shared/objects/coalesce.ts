/**
 * Returns a function that coalesces concurrent calls: runs never overlap, and all calls during a run share the next
 * one, so that a run always sees what its callers did before they called. `cleanup` runs after the job. Callers don't
 * wait for it, but the next run does.
 *
 * @example
 * const commit = coalesce(async () => writeCounts(), () => storage.sync());
 * // 64 calls that arrive during one commit share the next one.
 * await commit();
 */
export const coalesce = (job: () => Promise<void>, cleanup?: () => Promise<void>): (() => Promise<void>) => {
  let current: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  const start = (): Promise<void> => {
    const run = job();
    const runAndCleanup = cleanup ? run.then(cleanup) : run;
    const clear = () => {
      current = null;
    };
    current = runAndCleanup;
    void runAndCleanup.then(clear, clear);
    return run;
  };

  return () => {
    if (next) return next;
    if (!current) return start();
    const previous = current.catch(() => {});
    next = previous.then(() => {
      next = null;
      return start();
    });
    return next;
  };
};

/** Returns a function that schedules the job to run in `waitMs`, or returns null if it is already scheduled. */
export const scheduleOnce = (job: () => Promise<void>, waitMs: number): (() => Promise<void> | null) => {
  let isScheduled = false;
  const runLater = async () => {
    await scheduler.wait(waitMs);
    isScheduled = false;
    await job();
  };
  return () => {
    if (isScheduled) return null;
    isScheduled = true;
    return runLater();
  };
};
