import { accountDatabases, type NamedDatabase } from '../db/client.ts';
import { logError } from '../shared/log.ts';
import { checkDue } from './check.ts';
import { pruneBilling } from './prune.ts';

const runBilling = async (env: Env, { binding, db }: NamedDatabase): Promise<void> => {
  try {
    await pruneBilling({ env, db });
    await checkDue({ env, db });
  } catch (error) {
    // The next run continues.
    logError('billing_run_failed', error, { database: binding });
  }
};

/** Runs every hour: see the cron trigger in wrangler.toml. */
export const runScheduled = async (_controller: ScheduledController, env: Env): Promise<void> => {
  await Promise.all(accountDatabases(env).map((database) => runBilling(env, database)));
};
