import { outboxOf } from '../shared/objects/address.ts';
import { logError } from '../shared/text/log.ts';
import type { Hint, DeliveryJob } from './jobs.ts';
import { FIRST_PACE, nextPace } from './pace.ts';
import { post } from './post.ts';

/** A lane takes no new delivery after this long. The outbox then sends another hint. */
const MAX_LANE_MS = 10_000;

/** Runs one lane: sends a delivery, records the outcome and takes the endpoint's next delivery. */
const runLane = async (env: Env, { account_id, endpoint_id }: Hint, first: DeliveryJob, stopAtMs: number) => {
  const outbox = outboxOf(env, account_id);
  let pace = FIRST_PACE;
  for (let job: DeliveryJob | null = first; job;) {
    const outcome = await post(env, account_id, endpoint_id, job);
    const settledAtMs = Date.now();
    job = await outbox.settle(endpoint_id, job, outcome, settledAtMs < stopAtMs);
    pace = nextPace(pace, Date.now() - settledAtMs);
    if (job) await scheduler.wait(pace.pauseMs);
  }
};

const processHint = async (env: Env, ctx: ExecutionContext, hint: Hint) => {
  const jobs = await outboxOf(env, hint.account_id).claim(hint.endpoint_id);
  const stopAtMs = Date.now() + MAX_LANE_MS;
  for (const job of jobs) {
    // Not awaited, so that a slow receiver doesn't block the queue. If the consumer dies, the lease expires.
    ctx.waitUntil(
      runLane(env, hint, job, stopAtMs).catch((error: unknown) => {
        logError('attempt_not_recorded', error, { account_id: hint.account_id });
      }),
    );
  }
};

/** Logs hints that failed on every retry. No delivery is lost, because the outbox's alarm sends new hints. */
const logDeadLetters = (batch: MessageBatch<Hint>) => {
  for (const { body } of batch.messages) {
    logError('hint_dead_lettered', new Error('A hint failed on every retry.'), { ...body });
  }
};

/** Queue consumer. A message only hints that an endpoint has deliveries due; the outbox stores which ones. */
export const consume = async (batch: MessageBatch<Hint>, env: Env, ctx: ExecutionContext): Promise<void> => {
  if (batch.queue.endsWith('-dead')) return logDeadLetters(batch);
  for (const message of batch.messages) {
    try {
      await processHint(env, ctx, message.body);
      message.ack();
    } catch (error) {
      logError('hint_not_processed', error, { account_id: message.body.account_id });
      message.retry();
    }
  }
};
