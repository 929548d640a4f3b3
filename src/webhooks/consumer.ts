import { logError } from '../shared/log.ts';
import { post } from './post.ts';
import { outboxOf } from '../shared/objects.ts';
import type { Hint, Job } from './jobs.ts';

/** A consumer goes on with an endpoint for this long; then the outbox hints anew. */
const SHIFT_MS = 10_000;

/** A lane begins an attempt this often at most: a fast receiver must leave room for the account's verifies. */
const PACE_MS = 75;

/** One of the consumer's six connections: attempt, settle, and on with what the outbox has next. */
const workLane = async (env: Env, { account_id, endpoint_id }: Hint, first: Job, untilMs: number) => {
  const outbox = outboxOf(env, account_id);
  for (let job: Job | null = first; job;) {
    const beganMs = Date.now();
    const outcome = await post(env, account_id, endpoint_id, job);
    job = await outbox.settle(endpoint_id, job, outcome, Date.now() < untilMs);
    if (job) await scheduler.wait(Math.max(0, beganMs + PACE_MS - Date.now()));
  }
};

const follow = async (env: Env, ctx: ExecutionContext, hint: Hint) => {
  const jobs = await outboxOf(env, hint.account_id).claim(hint.endpoint_id);
  const untilMs = Date.now() + SHIFT_MS;
  for (const job of jobs) {
    // Not waited for, so that a slow receiver does not hold up the queue. Should this die, the lease expires.
    ctx.waitUntil(
      workLane(env, hint, job, untilMs).catch((error: unknown) => {
        logError('delivery_not_settled', error, { account_id: hint.account_id });
      }),
    );
  }
};

/** Hints that could not be followed again and again. Nothing is lost: the outbox's alarm hints anew. */
const logDeadHints = (batch: MessageBatch<Hint>) => {
  for (const { body } of batch.messages) {
    logError('hint_dead', new Error('A hint could not be followed.'), { ...body });
  }
};

/** A message is a hint that an endpoint has something due; acknowledged or lost, the outbox knows the truth. */
export const consume = async (batch: MessageBatch<Hint>, env: Env, ctx: ExecutionContext): Promise<void> => {
  if (batch.queue.endsWith('-dead')) return logDeadHints(batch);
  for (const message of batch.messages) {
    try {
      await follow(env, ctx, message.body);
      message.ack();
    } catch (error) {
      logError('hint_not_followed', error, { account_id: message.body.account_id });
      message.retry();
    }
  }
};
