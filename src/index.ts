import { app } from './app.ts';
import { runScheduled } from './system/scheduled.ts';
import { consume } from './webhooks/consumer.ts';
import type { Hint } from './webhooks/jobs.ts';

export { AccountGate } from './gate/home/account-gate.ts';
export { GateBranch } from './gate/branch/gate-branch.ts';
export { WebhookOutbox } from './webhooks/webhook-outbox.ts';

export default {
  fetch: app.fetch,
  queue: consume,
  scheduled: runScheduled,
} satisfies ExportedHandler<Env, Hint>;
