/**
 * Counts moments that are still to come, such as the ends of leases. It knows the next ones and how many there are in all, so
 * that most of them pass, come and go without reading any rows.
 */
export interface Countdown {
  count: number;
  /** The next moments in order, each with how often it occurs: all before `knownUntilMs`. */
  next: Moment[];
  knownUntilMs: number;
  /** Earlier moments have passed. */
  nowMs: number;
}

export interface Moment {
  atMs: number;
  times: number;
}

const MOMENTS_KNOWN = 200;

/** Returns the index of the first moment that isn't before a time. */
const indexOf = (next: Moment[], atMs: number): number => {
  let [low, high] = [0, next.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((next[middle]?.atMs ?? Infinity) < atMs) low = middle + 1;
    else high = middle;
  }
  return low;
};

const forgetFrom = (countdown: Countdown, index: number) => {
  const { next } = countdown;
  const from = next[index];
  if (!from) return;
  countdown.knownUntilMs = from.atMs;
  next.length = index;
};

/** `next` are the next moments of all, in order. If there are more than a countdown knows, it has at least one more. */
export const newCountdown = (count: number, next: Moment[], nowMs: number): Countdown => {
  const countdown = { count, next, knownUntilMs: Infinity, nowMs };
  forgetFrom(countdown, MOMENTS_KNOWN);
  return countdown;
};

/** Lets time pass. Returns false if the moments have to be read again, because later ones than the known are next. */
export const advance = (countdown: Countdown, nowMs: number): boolean => {
  const { next } = countdown;
  countdown.nowMs = Math.max(countdown.nowMs, nowMs);
  const passed = next.splice(0, indexOf(next, countdown.nowMs + 1));
  for (const { times } of passed) countdown.count -= times;
  return countdown.knownUntilMs === Infinity || next.length > 0;
};

/** Returns the moment through which the next `n` will have passed, or null if it isn't among those that are known. */
export const momentOf = ({ next }: Countdown, n: number): number | null => {
  let passed = 0;
  return next.find(({ times }) => (passed += times) >= n)?.atMs ?? null;
};

export const addMoment = (countdown: Countdown, atMs: number): void => {
  const { next, nowMs, knownUntilMs } = countdown;
  if (atMs <= nowMs) return;
  countdown.count++;
  if (atMs >= knownUntilMs) return;
  const index = indexOf(next, atMs);
  const found = next[index];
  if (found?.atMs === atMs) found.times++;
  else next.splice(index, 0, { atMs, times: 1 });
  if (next.length > 2 * MOMENTS_KNOWN) forgetFrom(countdown, MOMENTS_KNOWN);
};

export const removeMoment = (countdown: Countdown, atMs: number): void => {
  const { next, nowMs, knownUntilMs } = countdown;
  if (atMs <= nowMs) return;
  countdown.count--;
  if (atMs >= knownUntilMs) return;
  const index = indexOf(next, atMs);
  const found = next[index];
  if (found?.atMs !== atMs) return;
  if (--found.times === 0) next.splice(index, 1);
};
