import { env } from 'cloudflare:workers';
import { doScheduled, hourlyHints, type ScheduledHint } from '../../src/system/scheduled.ts';

/** Far more than any of the tests needs. */
const MAX_MESSAGES = 100;

/** Does a work of the database that has the tests' accounts, and returns whether more is due. */
export const doWork = (name: string, environment: Env = env): Promise<boolean> =>
  doScheduled(environment, { scheduled_work: name, database: 'DB2' });

const doAll = async (environment: Env, hint: ScheduledHint): Promise<void> => {
  for (let messages = 1; await doScheduled(environment, hint); messages++)
    if (messages === MAX_MESSAGES) throw new Error(`${hint.scheduled_work} doesn’t end.`);
};

/** Does all hourly work of all databases, one after the other and without the queue. */
export const runHourly = async (environment: Env = env): Promise<void> => {
  for (const hint of hourlyHints(environment)) await doAll(environment, hint);
};
