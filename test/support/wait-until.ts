// A test may replace it, or never let it end.
const wait = scheduler.wait.bind(scheduler);

const PATIENCE_MS = 30_000;

/**
 * Reads until the value is truthy, or until `isDone` returns true, and returns it. A fake clock stands still meanwhile, where
 * `expect.poll` and `vi.waitFor` would advance it by as much as the machine is slow.
 */
export const waitUntil = async <T>(
  read: () => T | Promise<T>,
  isDone: (value: T) => boolean = Boolean,
): Promise<T> => {
  const endMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const value = await read();
    if (isDone(value)) return value;
    if (performance.now() > endMs)
      throw new Error(`Timed out. The last value was ${JSON.stringify(value)?.slice(0, 1_000)}.`);
    await wait(20);
  }
};
