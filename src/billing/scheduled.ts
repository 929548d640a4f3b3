import { database } from '../db/client.ts';
import { logError } from '../shared/log.ts';
import { checkDue } from './check.ts';
import { pruneBilling } from './prune.ts';

/** Runs every hour: see the cron trigger in wrangler.toml. */
export const runScheduled = async (_controller: ScheduledController, env: Env): Promise<void> => {
  try {
    const ctx = { env, db: database(env) };
    await pruneBilling(ctx);
    await checkDue(ctx);
  } catch (error) {
    // The next run continues.
    logError('billing_run_failed', error);
  }
};
