import { accountDatabases, type NamedDatabase } from '../db/client.ts';
import { logError } from '../shared/log.ts';
import { checkDue } from './check.ts';
import { pruneBilling } from './prune.ts';

/** A failure is only logged, because the next run continues. */
const runBilling = async (env: Env, { binding, db }: NamedDatabase): Promise<void> => {
  for (const work of [pruneBilling, checkDue]) {
    try {
      await work({ env, db });
    } catch (error) {
      logError('billing_run_failed', error, { database: binding });
    }
  }
};

/** Runs every hour: see the cron trigger in wrangler.toml. */
export const runScheduled = async (_controller: ScheduledController, env: Env): Promise<void> => {
  await Promise.all(accountDatabases(env).map((database) => runBilling(env, database)));
};
