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

/** Sends what an endpoint has due. */
export const processHint = async (env: Env, ctx: ExecutionContext, hint: Hint): Promise<void> => {
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
