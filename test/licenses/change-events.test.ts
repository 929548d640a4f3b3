import { expect, test } from 'vitest';
import type { Customer, Json } from '../support/client.ts';
import type { newReceiver } from '../support/receiver.ts';
import { sellerWithWebhook } from '../support/worlds.ts';

const pathOf = (license: Json) => `/api/v1/licenses/${license.id}`;

const send = async (ada: Customer, method: string, path: string, body?: object) => {
  const answer = await ada.asSession(method, path, body);
  expect([path, answer.status]).toEqual([path, 200]);
  return answer.body;
};

type Receiver = Awaited<ReturnType<typeof newReceiver>>;

/** What the receiver got, without what all events of a license have. */
const receivedFrom = async (receiver: Receiver, count: number) => {
  const requests = await receiver.receives(count);
  const common = ['timestamp', 'customer_email', 'license_id'];
  return requests.map(({ body }) =>
    Object.fromEntries(Object.entries<Json>(JSON.parse(body)).filter(([name]) => !common.includes(name))),
  );
};

test('each change of a license sends an event that is named after it, and tells what changed and why', async () => {
  const { ada, receiver } = await sellerWithWebhook();
  const license = await ada.createLicense({ expires_at: '2099-01-01' });
  const path = pathOf(license);
  await send(ada, 'PATCH', path, { customer_name: 'Grace', metadata: { order: 7 } });
  await send(ada, 'POST', `${path}/renew`, { expires_at: '2100-01-01' });
  await send(ada, 'PATCH', path, { expires_at: null });
  await send(ada, 'POST', `${path}/suspend`, { reason: 'Charge disputed' });
  await send(ada, 'POST', `${path}/reinstate`);
  const { license_key: newKey } = await send(ada, 'POST', `${path}/rotate-key`);
  await send(ada, 'POST', `${path}/revoke`);
  // Events that are still to be delivered are deleted with their license.
  await receiver.receives(8);
  await send(ada, 'DELETE', path);

  const { license_key } = license;
  const received = await receivedFrom(receiver, 9);
  expect(received.toSorted((a, b) => a['event'].localeCompare(b['event']))).toEqual([
    { event: 'license.created', license_key },
    { event: 'license.deleted', license_key: newKey },
    { event: 'license.key_rotated', license_key: newKey },
    { event: 'license.reinstated', license_key, reason: null },
    { event: 'license.renewed', license_key, expires_at: '2100-01-01' },
    { event: 'license.renewed', license_key, expires_at: null },
    { event: 'license.revoked', license_key: newKey, reason: null },
    { event: 'license.suspended', license_key, reason: 'Charge disputed' },
    { event: 'license.updated', license_key, changed: ['customer_name', 'metadata'] },
  ]);
});

test('a change that changes nothing sends no event', async () => {
  const { ada, receiver } = await sellerWithWebhook();
  const license = await ada.createLicense({ product: 'Orrery', expires_at: '2099-01-01' });
  await send(ada, 'PATCH', pathOf(license), { product: 'Orrery' });
  await send(ada, 'POST', `${pathOf(license)}/renew`, { expires_at: '2099-01-01' });
  await send(ada, 'POST', `${pathOf(license)}/revoke`);
  const received = await receivedFrom(receiver, 2);
  expect(received.map(({ event }) => event)).toEqual(['license.created', 'license.revoked']);
});

test('the history shows the reason of a suspension and of a revocation', async () => {
  const { ada } = await sellerWithWebhook();
  const license = await ada.createLicense();
  await send(ada, 'POST', `${pathOf(license)}/suspend`, { reason: ' Charge disputed ' });
  await send(ada, 'POST', `${pathOf(license)}/revoke`, { reason: 'Dispute lost' });
  const { data } = await send(ada, 'GET', `${pathOf(license)}/history`);
  expect(data.map(({ action, reason }: Json) => [action, reason])).toEqual([
    ['revoked', 'Dispute lost'],
    ['suspended', 'Charge disputed'],
    ['created', null],
  ]);
  const none = await ada.asSession('POST', `${pathOf(license)}/suspend`, { reason: null });
  expect(none.body.error.code).toBe('invalid_transition');
  const tooLong = await ada.asSession('POST', `${pathOf(license)}/suspend`, { reason: 'a'.repeat(201) });
  expect(tooLong).toMatchObject({ status: 400, body: { error: { details: [{ path: 'reason' }] } } });
});

test('an erased customer’s events and history have no reason, because it may name the person', async () => {
  const { ada, receiver, id } = await sellerWithWebhook({}, { status: 500 });
  const license = await ada.createLicense({ customer_email: 'grace@example.com' });
  await send(ada, 'POST', `${pathOf(license)}/suspend`, { reason: 'Grace asked for it' });
  await receiver.receives(2);
  await send(ada, 'POST', '/api/erase-customer', { customer_email: 'grace@example.com' });
  const { data } = await send(ada, 'GET', `/api/webhooks/${id}/deliveries`);
  const suspended = data.find(({ event }: Json) => event === 'license.suspended');
  expect(JSON.parse(suspended.payload)).toMatchObject({ license_id: license.id, reason: null });
  expect(JSON.stringify(data)).not.toContain('Grace');
  const history = await send(ada, 'GET', `${pathOf(license)}/history`);
  expect(history.data.map(({ action, reason }: Json) => [action, reason])).toEqual([
    ['suspended', null],
    ['created', null],
  ]);
});
