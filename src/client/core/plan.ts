import type { Call, Result } from './calls.ts';
import type { Runtime, Settings } from './options.ts';
import { openSchedule } from './schedule.ts';
import type { Session } from './session.ts';

// Decides when to refresh and when to send a heartbeat.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const RETRY_MS = 5 * MINUTE_MS;

export const openPlan = (
  { now, hasHeartbeat }: Settings,
  runtime: Runtime,
  session: Session,
  jobs: { refresh: () => void; heartbeat: () => void },
) => {
  let leaseMs: number | null = null;
  let wasValid = false;
  let savedAt = -Infinity;
  /** The last refusal that asked for patience. */
  let refusedAt = 0;
  let refusedMs = 0;

  const schedule = openSchedule(now, runtime, {
    ...jobs,
    endsAt: session.endsAt,
    onTick: () => {
      const { valid } = session.settle();
      if (wasValid && !valid) schedule.hasten();
      wasValid = valid;
      if (Math.abs(now() - savedAt) < HOUR_MS) return;
      savedAt = now();
      void session.update();
    },
  });

  const around = (ms: number, part: number) => ms * (1 - part + 2 * part * runtime.random());

  /** The next refresh after one that said nothing: sooner if the verdict ends soon. */
  const retryMs = () => {
    const leftMs = session.settle().valid ? session.endsAt() - now() : 0;
    return leftMs > 0 ? Math.min(Math.max(leftMs / 3, MINUTE_MS), HOUR_MS) : RETRY_MS;
  };

  const refreshMs = (name: Call, { answer, retryAfterMs }: Result): number | null => {
    const isHeartbeat = name === 'heartbeat';
    if (!answer) return isHeartbeat ? null : Math.max(around(retryMs(), 0.2), retryAfterMs);
    const { claims, details } = answer.verdict;
    if (isHeartbeat && claims.valid) return null;
    const dayMs = around(DAY_MS, 0.2);
    const seatMs = (details.retryAtMs ?? Infinity) - session.timeNow();
    return Math.min(dayMs, around(Math.max(seatMs, MINUTE_MS), 0.01));
  };

  return {
    start: () => schedule.start(),
    stop: () => schedule.stop(),
    clear: () => schedule.set(Infinity, null),

    /** Plans what follows a call. */
    next: (name: Call, result: Result): void => {
      const { answer, retryAfterMs } = result;
      if (answer) leaseMs = answer.verdict.claims.valid ? answer.verdict.details.leaseMs : null;
      if (retryAfterMs > 0 && name !== 'heartbeat') {
        refusedAt = now();
        refusedMs = Math.min(retryAfterMs, DAY_MS);
      }
      const beatMs = leaseMs !== null && hasHeartbeat ? around(leaseMs / 3, 0.1) : null;
      schedule.set(refreshMs(name, result), beatMs && Math.max(beatMs, retryAfterMs));
    },

    /** The result of a refresh that comes before the service wants to be asked again, or null. */
    pause: (): Result | null => {
      const leftMs = refusedAt + refusedMs - now();
      return leftMs > 0 && leftMs <= refusedMs ? { answer: null, code: null, retryAfterMs: leftMs } : null;
    },
  };
};
