import type { Runtime } from './options.ts';

/** Timers are set for at most this long, so that waking from sleep is noticed soon. */
const TICK_MS = 60_000;
/** A timer that is this late means that the machine was asleep. */
const ASLEEP_MS = 120_000;

interface Jobs {
  /** Runs at each tick, before what is due. */
  onTick(): void;
  refresh(): void;
  heartbeat(): void;
  /** Until when nothing ends by itself. */
  endsAt(): number;
}

export interface Schedule {
  start(): void;
  stop(): void;
  /** When to refresh next, in milliseconds from now. Null to leave it as it is. */
  set(refreshMs: number | null, heartbeatMs: number | null): void;
  /** Makes the next refresh due. */
  hasten(): void;
}

/** Runs the refreshes and heartbeats, by the machine's clock. */
export const openSchedule = (now: () => number, runtime: Runtime, jobs: Jobs): Schedule => {
  let timer: ReturnType<Runtime['setTimer']> | null = null;
  let isRunning = false;
  let setAt = 0;
  let delayMs = 0;
  let refreshAt = Infinity;
  let heartbeatAt = Infinity;

  const arm = () => {
    if (timer) runtime.clearTimer(timer);
    timer = null;
    if (!isRunning) return;
    setAt = now();
    const nextAt = Math.min(refreshAt, heartbeatAt, jobs.endsAt());
    delayMs = Math.min(Math.max(nextAt - setAt, 1_000), TICK_MS);
    timer = runtime.setTimer(tick, delayMs);
    timer.unref?.();
  };

  const tick = () => {
    const passedMs = now() - setAt;
    const isAwake = passedMs > delayMs + ASLEEP_MS;
    // The clock was set back: what was due in an hour still is.
    if (passedMs < 0) {
      refreshAt += passedMs;
      heartbeatAt += passedMs;
    }
    jobs.onTick();
    const nowMs = now();
    if (nowMs >= refreshAt) {
      refreshAt = Infinity;
      jobs.refresh();
    } else if (nowMs >= heartbeatAt || (isAwake && heartbeatAt < Infinity)) {
      heartbeatAt = Infinity;
      jobs.heartbeat();
    }
    arm();
  };

  return {
    start: () => {
      isRunning = true;
      arm();
    },
    stop: () => {
      isRunning = false;
      arm();
    },
    set: (refreshMs, heartbeatMs) => {
      if (refreshMs !== null) refreshAt = now() + refreshMs;
      heartbeatAt = heartbeatMs === null ? Infinity : now() + heartbeatMs;
      arm();
    },
    hasten: () => {
      refreshAt = Math.min(refreshAt, now());
    },
  };
};
