import { render } from '../operators/metrics.ts';
import { idTimeMs } from '../shared/text/ids.ts';
import { logError } from '../shared/text/log.ts';
import { findBucket } from './bucket.ts';
import { listIds } from './state.ts';

/** Returns the metrics of the backups, of which a service without a bucket has none. */
export const renderBackups = async (env: Env): Promise<string> => {
  const bucket = findBucket(env);
  if (!bucket) return '';
  try {
    const last = (await listIds(bucket)).at(-1);
    const ages =
      last === undefined ? [] : [{ labels: {}, value: Math.max(0, Date.now() - idTimeMs(last)) / 1_000 }];
    const help = 'Time since the last complete backup was begun. Missing if there is none.';
    return `${render('backup_age_seconds', 'gauge', help, ages).join('\n')}\n`;
  } catch (error) {
    logError('metrics_backups_failed', error);
    return '';
  }
};
