import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { newEvent } from '../../src/shared/text/events.ts';
import type { DeliveryJob } from '../../src/webhooks/jobs.ts';
import { type Customer, signUp } from '../support/client.ts';
import { addEndpoint, loseHints, outbox } from '../support/outbox.ts';

// The platform repeats a call whose connection was lost, for example by a deploy, with the same arguments.

let ada: Customer;
let id: string;

beforeEach(async () => {
  loseHints();
  ada = await signUp();
  ({ id } = await addEndpoint(ada, 'https://example.com/hook'));
});

afterEach(() => {
  vi.restoreAllMocks();
});

const claim = async (): Promise<DeliveryJob> => {
  const event = newEvent('license.created', Date.now(), { customer_email: 'grace@example.com' });
  const events = JSON.stringify([event]);
  await outbox(ada.accountId).accept(events);
  await outbox(ada.accountId).accept(events);
  const [job, ...others] = await outbox(ada.accountId).claim(id);
  expect(others).toEqual([]);
  return job as DeliveryJob;
};

const ATTEMPT = { atMs: Date.now(), error: null, durationMs: 1, response: '', retryAfterMs: null };

test.for([
  { ok: true, statusCode: 200, delivered: 1, status: 'delivered' },
  { ok: false, statusCode: 500, delivered: 0, status: 'pending' },
] as const)('a repeated settlement with $statusCode is one attempt', async (expected) => {
  const { ok, statusCode, delivered, status } = expected;
  const job = await claim();
  for (let i = 0; i < 2; i++) {
    await outbox(ada.accountId).settle(id, job, { ...ATTEMPT, ok, statusCode }, true);
  }
  const [delivery] = (await outbox(ada.accountId).listDeliveries(id, 10, null)) ?? [];
  expect(delivery).toMatchObject({ status, failures: ok ? 0 : 1 });
  expect(delivery?.attempts).toHaveLength(1);
  const { delivered24h, failed24h } = await outbox(ada.accountId).summary();
  expect([delivered24h, failed24h]).toEqual([delivered, 1 - delivered]);
});

test('a repeated rotation keeps only the replaced secret as an earlier one', async () => {
  const before = await outbox(ada.accountId).getEndpoint(id);
  await outbox(ada.accountId).rotateSecret(id, 'k1.sealed');
  const after = await outbox(ada.accountId).rotateSecret(id, 'k1.sealed');
  expect(after?.earlierSecrets.map(({ sealedSecret }) => sealedSecret)).toEqual([before?.sealedSecret]);
});
