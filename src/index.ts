import { app } from './app.ts';
import { consume, type QueueMessage } from './system/consume.ts';
import { sendHourlyWork } from './system/scheduled.ts';

export { AccountGate } from './gate/home/account-gate.ts';
export { GateBranch } from './gate/branch/gate-branch.ts';
export { WebhookOutbox } from './webhooks/webhook-outbox.ts';

export default {
  fetch: app.fetch,
  queue: consume,
  scheduled: sendHourlyWork,
} satisfies ExportedHandler<Env, QueueMessage>;
