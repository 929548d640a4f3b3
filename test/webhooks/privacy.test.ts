import { beforeAll, describe, expect, test } from 'vitest';
import { call, type Customer, signUp } from '../support/client.ts';
import { addEndpoint, readOutbox } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';

test('signing secrets are encrypted in the outbox and missing from lists', async () => {
  const ada = await signUp();
  const { url } = await newReceiver();
  const { id, path, secret } = await addEndpoint(ada, url);
  const { body: rotated } = await ada.asSession('POST', `${path}/rotate-secret`);
  await ada.asSession('POST', `${path}/test`);
  const tables = await readOutbox<{ name: string }>(
    ada.accountId,
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'",
  );
  expect(tables.map(({ name }) => name)).toContain('endpoints');
  const rows = await Promise.all(
    tables.map(({ name }) => readOutbox(ada.accountId, `SELECT * FROM ${name}`)),
  );
  const stored = JSON.stringify(rows);
  expect(stored).toContain(id);
  for (const text of ['whsec_', secret.slice(6), rotated.secret.slice(6)]) expect(stored).not.toContain(text);
  const lists = await Promise.all([path, `${path}/x`].map(() => ada.asSession('GET', '/api/webhooks')));
  expect(JSON.stringify(lists.map(({ body }) => body))).not.toContain('whsec_');
});

describe('a webhook of another account', () => {
  let ada: Customer;
  let bob: Customer;
  let path: string;
  let deliveryId: string;
  let receiver: Awaited<ReturnType<typeof newReceiver>>;
  beforeAll(async () => {
    [ada, bob] = [await signUp(), await signUp()];
    receiver = await newReceiver();
    ({ path } = await addEndpoint(ada, receiver.url));
    deliveryId = (await ada.asSession('POST', `${path}/test`)).body.id;
    await receiver.receives(1);
  });

  test.for([
    { method: 'GET', suffix: '' },
    { method: 'PATCH', suffix: '', body: { status: 'disabled' } },
    { method: 'DELETE', suffix: '' },
    { method: 'POST', suffix: '/rotate-secret' },
    { method: 'POST', suffix: '/test' },
    { method: 'GET', suffix: '/deliveries' },
    { method: 'POST', suffix: '/deliveries/:delivery_id/resend' },
  ])('is not found by $method /api/webhooks/:id$suffix', async ({ method, suffix, body }) => {
    const url = path + suffix.replace(':delivery_id', deliveryId);
    const answer = await bob.asKey(method, url, body);
    expect([answer.status, answer.body.error.code]).toEqual([404, 'webhook_not_found']);
    expect((await call(method, url, { body })).status).toBe(401);
    // The owner's webhook is unchanged and sent nothing.
    expect((await ada.asSession('GET', path)).body.status).toBe('enabled');
    expect(await receiver.received()).toHaveLength(1);
  });
});
