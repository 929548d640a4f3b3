import type { CallName } from '../../shared/rules/verdict.ts';
import type { Result } from './calls.ts';
import type { Runtime, ClientSettings, Timer } from './options.ts';
import { RENEWAL_MS, type Session } from './session.ts';

// Decides when to refresh and when to send a heartbeat, by the machine's clock.

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** How soon a refresh is repeated while the license isn't valid: a person waits, and Wi-Fi comes seconds after a machine wakes. */
const RETRIES_MS = [2, 5, 15, 30, 60].map((seconds) => seconds * SECOND_MS);
const LATER_RETRY_MS = 2 * MINUTE_MS;
/** Timers are set for at most this long, so that waking from sleep is noticed soon. */
const TICK_MS = 60_000;
/** A timer that is this late means that the machine was asleep. */
const ASLEEP_MS = 120_000;

/** What tells that the network is back, where there is something. */
type Platform = Partial<Record<string, (name: string, listener: () => void) => void>>;

export const openSchedule = (
  { now, hasHeartbeat }: ClientSettings,
  runtime: Runtime,
  session: Session,
  jobs: { refresh: () => void; heartbeat: () => void },
) => {
  let timer: Timer | undefined;
  let isRunning = false;
  let setAt = 0;
  let delayMs = 0;
  let refreshAt = Infinity;
  let heartbeatAt = Infinity;
  let leaseMs: number | null = null;
  let wasValid = false;
  /** Refreshes since the last answer. */
  let failures = 0;
  /** The last refusal that asked for patience. */
  let refusedAt = 0;
  let refusedMs = 0;

  const arm = () => {
    if (timer) runtime.clearTimer(timer);
    if (!isRunning) return;
    setAt = now();
    const nextMs = Math.min(refreshAt, heartbeatAt, session.endsAt()) - setAt;
    delayMs = Math.min(Math.max(nextMs, SECOND_MS), TICK_MS);
    timer = runtime.setTimer(tick, delayMs);
    timer.unref?.();
  };

  const tick = () => {
    const nowMs = now();
    const passedMs = nowMs - setAt;
    // The clock was set back: what was due in an hour still is.
    if (passedMs < 0) {
      refreshAt += passedMs;
      heartbeatAt += passedMs;
    }
    const { valid } = session.settle();
    // Licenses end at midnight, and not all applications may ask in the same second.
    if (wasValid && !valid)
      refreshAt = nowMs + (nowMs >= session.licenseEndsAt() ? runtime.random() * MINUTE_MS : 0);
    if (valid !== wasValid) failures = 0;
    wasValid = valid;
    if (nowMs >= refreshAt) {
      refreshAt = Infinity;
      jobs.refresh();
    } else if (nowMs >= heartbeatAt || (passedMs > delayMs + ASLEEP_MS && heartbeatAt < Infinity)) {
      heartbeatAt = Infinity;
      jobs.heartbeat();
    }
    arm();
  };

  const around = (ms: number, part: number) => ms * (1 - part + 2 * part * runtime.random());

  /** How long until shortly before the license ends, when it may have been renewed. */
  const renewalMs = () => {
    const leftMs = session.licenseEndsAt() - now();
    return leftMs > RENEWAL_MS ? leftMs - (0.1 + 0.9 * runtime.random()) * RENEWAL_MS : Infinity;
  };

  /** When to repeat what has failed: sooner if the verdict ends soon. */
  const soonMs = () => Math.max((session.endsAt() - now()) / 3, MINUTE_MS);

  /** The next refresh after one that said nothing. */
  const retryMs = () =>
    session.settle().valid ? Math.min(soonMs(), HOUR_MS) : (RETRIES_MS[failures - 1] ?? LATER_RETRY_MS);

  /** When to refresh after a call, or null to leave it as it is. */
  const refreshMs = (isHeartbeat: boolean, { answer, retryAfterMs }: Result): number | null => {
    const { claims, details } = answer?.verdict ?? {};
    if (isHeartbeat && claims?.valid !== false) return null;
    // After such a heartbeat, a verify has failed that may have given the seat back.
    if (!details || (isHeartbeat && claims?.code === 'not_activated'))
      return Math.max(around(retryMs(), 0.2), retryAfterMs);
    // A seat may be free then.
    const seatMs = Math.max((details.retryAtMs ?? Infinity) - session.timeNow(), MINUTE_MS);
    return Math.min(around(session.periodMs(), 0.2), seatMs, renewalMs());
  };

  /** The network is back: whatever has failed is tried at once. */
  const online = () => {
    if (failures === 0) return;
    refreshAt = now();
    tick();
  };

  return {
    run: (shouldRun: boolean): void => {
      isRunning = shouldRun;
      wasValid = session.settle().valid;
      (globalThis as unknown as Platform)[shouldRun ? 'addEventListener' : 'removeEventListener']?.(
        'online',
        online,
      );
      arm();
    },

    /** Plans the first refresh of a process whose token is young. */
    rest: (ms: number): void => {
      refreshAt = now() + Math.min(ms + runtime.random() * 0.4 * session.periodMs(), renewalMs());
      arm();
    },

    /** Plans what follows a call. */
    next: (name: CallName, result: Result): void => {
      const { answer, retryAfterMs } = result;
      const isHeartbeat = name === 'heartbeat';
      const nowMs = now();
      if (answer) {
        failures = 0;
        wasValid = answer.verdict.claims.valid;
        leaseMs = wasValid ? answer.verdict.details.leaseMs : null;
      } else if (!isHeartbeat) failures += 1;
      if (retryAfterMs > 0 && !isHeartbeat) {
        refusedAt = nowMs;
        refusedMs = retryAfterMs;
      }
      refreshAt = nowMs + (refreshMs(isHeartbeat, result) ?? refreshAt - nowMs);
      heartbeatAt =
        leaseMs && hasHeartbeat
          ? // A verify that fails, for example because the quota is spent, neither ends heartbeats nor puts them off.
            Math.min(
              wasValid && !answer ? heartbeatAt : Infinity,
              nowMs +
                Math.max(
                  around(Math.min(leaseMs / 3, answer ? Infinity : soonMs()), 0.1),
                  isHeartbeat ? retryAfterMs : 0,
                ),
            )
          : Infinity;
      arm();
    },

    /** The result of a refresh that comes before the service wants to be asked again, or null. */
    pause: (): Result | null => {
      const leftMs = refusedAt + refusedMs - now();
      return leftMs > 0 && leftMs <= refusedMs ? { retryAfterMs: leftMs } : null;
    },
  };
};
