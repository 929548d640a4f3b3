import { expect, test } from 'vitest';
import { call, signUp } from '../support/client.ts';
import { addEndpoint, readOutbox } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';

test('secrets are nowhere in plain text, neither in the outbox nor in a list', async () => {
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
  const kept = JSON.stringify(rows);
  expect(kept).toContain(id);
  for (const text of ['whsec_', secret.slice(6), rotated.secret.slice(6)]) expect(kept).not.toContain(text);
  const lists = await Promise.all([path, `${path}/x`].map(() => ada.asSession('GET', '/api/webhooks')));
  expect(JSON.stringify(lists.map(({ body }) => body))).not.toContain('whsec_');
});

test('another account finds neither the endpoint nor its deliveries', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  const receiver = await newReceiver();
  const { path } = await addEndpoint(ada, receiver.url);
  const { body: delivery } = await ada.asSession('POST', `${path}/test`);
  await receiver.receives(1);
  for (const [method, at, body] of [
    ['GET', path],
    ['PATCH', path, { status: 'disabled' }],
    ['DELETE', path],
    ['POST', `${path}/rotate-secret`],
    ['POST', `${path}/test`],
    ['GET', `${path}/deliveries`],
    ['POST', `${path}/deliveries/${delivery.id}/resend`],
  ] as const) {
    const answer = await bob.asKey(method, at, body);
    expect([method, at, answer.status, answer.body.error.code]).toEqual([
      method,
      at,
      404,
      'webhook_not_found',
    ]);
    expect((await call(method, at, { body })).status).toBe(401);
  }
  expect((await ada.asSession('GET', path)).body.status).toBe('enabled');
  expect(await receiver.received()).toHaveLength(1);
});
