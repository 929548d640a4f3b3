import { database } from '../db/client.ts';
import { logError } from '../shared/log.ts';
import { checkDue } from './check.ts';

/** Runs every hour: see the cron trigger in wrangler.toml. */
export const runScheduled = async (_controller: ScheduledController, env: Env): Promise<void> => {
  try {
    await checkDue({ env, db: database(env) });
  } catch (error) {
    // The next run continues.
    logError('billing_run_failed', error);
  }
};
