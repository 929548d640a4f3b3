import { logError, type LogFields } from '../text/log.ts';

/** Work that a part of a Durable Object does when no call waits for it. */
export interface Job {
  /** The log event of a failure. */
  failure: string;
  /** Returns when the alarm has to come at the latest, or null. A time that has passed means at once. */
  dueMs: (nowMs: number) => number | null;
  /** Does what there is to do. The alarm may come early, for another job. */
  run: (nowMs: number) => Promise<void> | void;
  /** Whether the job runs after the others, which run at the same time. */
  isLast?: boolean;
}

const SECOND_MS = 1_000;
const MAX_BACKOFF_MS = 5 * 60 * SECOND_MS;

/** Exponential backoff with jitter: the delay after so many failures in a row. `random` is between 0 and 1. */
export const backoffMs = (failures: number, random: number): number =>
  failures === 0 ? 0 : Math.min(MAX_BACKOFF_MS, SECOND_MS * 2 ** failures) * (0.5 + random / 2);

/**
 * The one owner of a Durable Object's alarm: parts declare when they are due, and what they then do. A standing alarm is only
 * moved to an earlier time, and rarely, because such a commit has to wait for the platform's alarm manager.
 */
export const openAlarm = (ctx: DurableObjectState, fields: LogFields): Alarm => {
  const { storage } = ctx;
  const jobs: (Job & { failures: number; notBeforeMs: number })[] = [];
  /** When the standing alarm comes, as far as this process knows. */
  let setForMs: number | null = null;
  let running = 0;

  const nextMs = (nowMs: number): number => {
    let nextDueMs = Infinity;
    for (const { dueMs, notBeforeMs } of jobs) {
      const jobMs = dueMs(nowMs);
      if (jobMs !== null) nextDueMs = Math.min(nextDueMs, Math.max(jobMs, notBeforeMs));
    }
    // The platform ignores an alarm that is set for the present while an alarm runs.
    return Math.max(nowMs + 1, Math.ceil(nextDueMs));
  };

  /** The time of the standing alarm if it is known. One whose time has passed may have come and gone. */
  const standingMs = () => (setForMs !== null && setForMs >= Date.now() ? setForMs : null);

  /** Sets the alarm for what is due next, and for `byMs` at the latest. Never moves it to a later time. */
  const arm = async (byMs = Infinity): Promise<void> => {
    // A running alarm sets the next one. The platform repeats it if it is cut off.
    if (running > 0) return;
    const dueMs = Math.min(byMs, nextMs(Date.now()));
    if (dueMs === Infinity) return;
    const storedMs = standingMs() ?? (await storage.getAlarm()) ?? Infinity;
    const earliestMs = Math.min(storedMs, standingMs() ?? Infinity);
    setForMs = Math.min(earliestMs, dueMs);
    if (earliestMs <= dueMs) return;
    try {
      await storage.setAlarm(dueMs);
    } catch (error) {
      setForMs = null;
      throw error;
    }
  };

  /** Runs a job, unless it has failed lately. One that fails doesn't stop the others. */
  const attempt = async (job: (typeof jobs)[number]): Promise<void> => {
    if (Date.now() < job.notBeforeMs) return;
    try {
      await job.run(Date.now());
      job.failures = 0;
    } catch (error) {
      logError(job.failure, error, fields);
      job.failures++;
    }
    job.notBeforeMs = Date.now() + backoffMs(job.failures, Math.random());
  };

  const add = (job: Job) => {
    jobs.push({ ...job, failures: 0, notBeforeMs: 0 });
  };

  return {
    add,
    arm,

    /** The same alarm for parts whose jobs rest unless `isOn`. */
    onlyWhile: (isOn: () => boolean): Pick<Alarm, 'add' | 'arm'> => ({
      arm,
      add: (job) =>
        add({
          ...job,
          dueMs: (nowMs) => (isOn() ? job.dueMs(nowMs) : null),
          run: (nowMs) => (isOn() ? job.run(nowMs) : undefined),
        }),
    }),

    /** Sets the alarm after a start, before the first call. */
    start: () => {
      if (nextMs(Date.now()) < Infinity) void ctx.blockConcurrencyWhile(() => arm());
    },

    /** The object's `alarm`. The platform gives up an alarm that has thrown six times, so no job lets it throw. */
    run: async (): Promise<void> => {
      setForMs = null;
      running++;
      await Promise.all(jobs.filter(({ isLast }) => !isLast).map(attempt));
      for (const job of jobs) if (job.isLast) await attempt(job);
      running--;
      await arm();
    },
  };
};

export interface Alarm {
  add: (job: Job) => void;
  arm: (byMs?: number) => Promise<void>;
  onlyWhile: (isOn: () => boolean) => Pick<Alarm, 'add' | 'arm'>;
  start: () => void;
  run: () => Promise<void>;
}
