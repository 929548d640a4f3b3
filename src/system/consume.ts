import { type BackupHint, continueBackup } from '../backups/nightly.ts';
import { isBeingRestored } from '../backups/restoring.ts';
import { logError } from '../shared/text/log.ts';
import type { StoreHint } from '../stores/work-hint.ts';
import { workOnStores } from '../stores/work.ts';
import { processHint } from '../webhooks/consumer.ts';
import type { Hint } from '../webhooks/jobs.ts';
import { continueScheduled, type ScheduledHint } from './scheduled.ts';

/** Each message only hints at work that is written down elsewhere: losing one loses nothing. */
export type QueueMessage = Hint | BackupHint | StoreHint | ScheduledHint;

/** The hourly work hints at what is due once the service is restored. */
const workOnceRestored = async (env: Env, accountId: string): Promise<void> => {
  if (!(await isBeingRestored(env))) await workOnStores(env, accountId);
};

const process = (env: Env, ctx: ExecutionContext, message: QueueMessage): Promise<void> => {
  if ('backup_id' in message) return continueBackup(env);
  if ('scheduled_work' in message) return continueScheduled(env, message);
  return 'work' in message ? workOnceRestored(env, message.account_id) : processHint(env, ctx, message);
};

/** Logs hints that failed on every retry. Nothing is lost, because alarms and the hourly work send new hints. */
const logDeadLetters = (batch: MessageBatch<QueueMessage>) => {
  for (const { body } of batch.messages) {
    logError('hint_dead_lettered', new Error('A hint failed on every retry.'), { ...body });
  }
};

/** Queue consumer. */
export const consume = async (
  batch: MessageBatch<QueueMessage>,
  env: Env,
  ctx: ExecutionContext,
): Promise<void> => {
  if (batch.queue.endsWith('-dead')) return logDeadLetters(batch);
  for (const message of batch.messages) {
    try {
      await process(env, ctx, message.body);
      message.ack();
    } catch (error) {
      logError('hint_not_processed', error, { ...message.body });
      message.retry();
    }
  }
};
