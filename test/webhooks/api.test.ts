import { Webhook } from 'standardwebhooks';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Customer, type Json, outcomeOf, signUp } from '../support/client.ts';
import { ALL_EVENTS } from '../support/events.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { addEndpoint, consume, loseHints } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait-until.ts';
import { sellerWithWebhook } from '../support/worlds.ts';

const NOON = Date.parse('2027-03-10T12:00:00.000Z');

test('a webhook is created, listed without its secret, read with its secret, updated and deleted', async () => {
  useFakeClock(NOON);
  const ada = await signUp();
  const { url } = await newReceiver();
  const made = await ada.asSession('POST', '/api/webhooks', { url });
  const { secret, old_secret_expires_at: oldSecretExpiresAt, ...shown } = made.body;
  expect([made.status, made.headers.get('cache-control'), oldSecretExpiresAt]).toEqual([
    201,
    'no-store',
    null,
  ]);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(shown).toEqual({
    id: expect.stringMatching(/^whe_[0-9A-Za-z]{20}$/),
    url,
    description: null,
    events: ALL_EVENTS,
    status: 'enabled',
    disabled_reason: null,
    failing_since: null,
    created_at: new Date(NOON).toISOString(),
    updated_at: new Date(NOON).toISOString(),
  });
  const path = `/api/webhooks/${shown.id}`;
  expect((await ada.asKey('GET', path)).body).toEqual(made.body);
  expect((await ada.asKey('GET', '/api/webhooks')).body).toEqual({ data: [shown], next_cursor: null });

  vi.advanceTimersByTime(1_000);
  const changes = { url: `${url}/new`, events: ['license.created'], description: 'The shop' };
  const changed = await ada.asSession('PATCH', path, { ...changes, status: 'disabled' });
  const now = new Date(Date.now()).toISOString();
  const expected = { ...shown, ...changes, status: 'disabled', disabled_reason: 'by_you', updated_at: now };
  expect([changed.status, changed.body]).toEqual([200, expected]);
  expect((await ada.asSession('GET', path)).body).toMatchObject({ ...expected, secret });
  const reset = await ada.asSession('PATCH', path, { events: null, description: null, status: 'enabled' });
  expect(reset.body).toMatchObject({ events: ALL_EVENTS, description: null, disabled_reason: null });
  expect((await ada.asSession('PATCH', path, {})).body).toEqual(reset.body);

  const deleted = await ada.asSession('DELETE', path);
  expect([deleted.status, deleted.body]).toEqual([200, { id: shown.id, deleted: true }]);
  expect((await ada.asSession('GET', '/api/webhooks')).body.data).toEqual([]);
});

describe('a deleted webhook', () => {
  let ada: Customer;
  let deletedPath: string;
  beforeAll(async () => {
    ada = await signUp();
    deletedPath = (await addEndpoint(ada, (await newReceiver()).url)).path;
    await ada.asSession('DELETE', deletedPath);
  });

  test.for([
    ['GET', ''],
    ['DELETE', ''],
    ['GET', '/deliveries'],
  ] as const)('is not found by %s /api/webhooks/:id%s', async ([method, suffix]) => {
    const { body } = await ada.asSession(method, deletedPath + suffix);
    expect(body.error.code).toBe('webhook_not_found');
  });
});

describe('an invalid webhook', () => {
  let ada: Customer;
  let url: string;
  beforeAll(async () => {
    ada = await signUp();
    ({ url } = await newReceiver());
  });

  test.for([
    { name: 'no URL', field: 'url', changes: { url: undefined } },
    { name: 'a URL that does not parse', field: 'url', changes: { url: 'nonsense' } },
    { name: 'an http URL', field: 'url', changes: { url: 'http://example.com/' } },
    { name: 'a URL of this service', field: 'url', changes: { url: 'https://latchkey.test/hooks' } },
    {
      name: 'a URL over 2,048 characters',
      field: 'url',
      changes: { url: `https://example.com/${'x'.repeat(2_048)}` },
    },
    { name: 'no events', field: 'events', changes: { events: [] } },
    { name: 'an unknown event', field: 'events.0', changes: { events: ['webhook.test'] } },
    { name: 'an empty description', field: 'description', changes: { description: '' } },
    { name: 'a secret', field: 'secret', changes: { secret: 'whsec_mine' } },
  ])('with $name is rejected, and the error names $field', async ({ field, changes }) => {
    const { status, body } = await ada.asSession('POST', '/api/webhooks', { url, ...changes });
    expect([status, body.error.details[0].path]).toEqual([400, field]);
  });

  test('is rejected by an update, which leaves the webhook unchanged', async () => {
    const { path } = await addEndpoint(ada, url);
    const moved = await ada.asSession('PATCH', path, { url: 'https://10.0.0.1/' });
    expect([moved.status, moved.body.error.details[0].path]).toEqual([400, 'url']);
    expect((await ada.asSession('GET', path)).body.url).toBe(url);
  });
});

test('an account can have 20 webhooks, which are listed in pages, newest first', async () => {
  const ada = await signUp();
  const { url } = await newReceiver();
  const ids: string[] = [];
  for (let i = 0; i < 20; i++) ids.unshift((await addEndpoint(ada, url)).id);
  const excess = await ada.asSession('POST', '/api/webhooks', { url });
  expect([outcomeOf(excess), excess.body.error.details[0].path]).toEqual(['403 limit_reached', 'webhooks']);
  const first = (await ada.asSession('GET', '/api/webhooks?limit=15')).body;
  const second = (await ada.asSession('GET', `/api/webhooks?limit=15&cursor=${first.next_cursor}`)).body;
  const listed = [...first.data, ...second.data].map(({ id }: Json) => id);
  expect([listed, second.next_cursor]).toEqual([ids, null]);
  await ada.asSession('DELETE', `/api/webhooks/${ids[0]}`);
  expect((await ada.asSession('POST', '/api/webhooks', { url })).status).toBe(201);
});

test('parallel requests cannot create more than 20 webhooks', async () => {
  const ada = await signUp();
  const { url } = await newReceiver();
  const answers = await Promise.all(
    Array.from({ length: 24 }, () => ada.asSession('POST', '/api/webhooks', { url })),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
});

test('a test event goes only to the chosen webhook and ignores its subscriptions', async () => {
  const ada = await signUp();
  const [chosen, other] = [await newReceiver(), await newReceiver()];
  const endpoint = await addEndpoint(ada, chosen.url, { events: ['payment.success'] });
  await addEndpoint(ada, other.url);
  await ada.asSession('POST', `${endpoint.path}/test`);
  const [posted] = await chosen.receives(1);
  const body = new Webhook(endpoint.secret).verify(posted!.body, posted!.headers);
  expect(body).toMatchObject({ event: 'webhook.test', customer_email: ada.email });
  await ada.createLicense();
  await other.receives(1);
  expect(await chosen.received()).toHaveLength(1);
  expect(await other.received()).toHaveLength(1);
});

test('after a rotation both secrets sign for 24 hours, then only the new secret', async () => {
  useFakeClock(NOON);
  const { ada, receiver, path, secret: oldSecret } = await sellerWithWebhook();
  const { status, body } = await ada.asSession('POST', `${path}/rotate-secret`);
  const in24Hours = new Date(NOON + 86_400_000).toISOString();
  expect([status, body.old_secret_expires_at]).toEqual([200, in24Hours]);
  expect(body.secret).not.toBe(oldSecret);
  expect((await ada.asSession('GET', path)).body).toEqual(body);

  const secretsThatVerify = async (count: number) => {
    await ada.asSession('POST', `${path}/test`);
    const posted = (await receiver.receives(count)).at(-1)!;
    const verifies = (secret: string) => {
      try {
        return Boolean(new Webhook(secret).verify(posted.body, posted.headers));
      } catch {
        return false;
      }
    };
    return { old: verifies(oldSecret), new: verifies(body.secret) };
  };
  vi.setSystemTime(NOON + 86_399_999);
  expect(await secretsThatVerify(1)).toEqual({ old: true, new: true });
  vi.setSystemTime(NOON + 86_400_000);
  expect(await secretsThatVerify(2)).toEqual({ old: false, new: true });
  expect((await ada.asKey('GET', path)).body.old_secret_expires_at).toBeNull();
});

test('the delivery log is listed in pages, newest first, and shows the attempts of each delivery', async () => {
  const { ada, receiver, path, deliveries } = await sellerWithWebhook();
  const sent: string[] = [];
  for (let i = 0; i < 5; i++) sent.unshift((await ada.asSession('POST', `${path}/test`)).body.id);
  await waitUntil(deliveries, (all) => all.length === 5 && all.every(({ status }) => status === 'delivered'));
  const listed: Json[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body }: Json = await ada.asSession(
      'GET',
      `${path}/deliveries?limit=2${cursor && `&cursor=${cursor}`}`,
    );
    listed.push(...body.data);
    cursor = body.next_cursor;
  }
  expect(listed.map(({ id }) => id)).toEqual(sent);
  for (const delivery of listed) {
    expect(delivery).toMatchObject({
      event: 'webhook.test',
      attempts: [{ status_code: 200, error: null, response: 'ok', duration_ms: expect.any(Number) }],
    });
  }
  const received = (await receiver.received()).map(({ headers }) => headers['webhook-id']);
  expect(new Set(received)).toEqual(new Set(listed.map(({ event_id: id }) => id)));
});

test('resending a delivery keeps its webhook-id and body and adds an attempt to its log', async () => {
  const { ada, receiver, path, deliveries } = await sellerWithWebhook();
  const { body: delivery } = await ada.asSession('POST', `${path}/test`);
  await waitUntil(deliveries, ([shown]) => shown.status === 'delivered');
  const resent = await ada.asSession('POST', `${path}/deliveries/${delivery.id}/resend`);
  expect([resent.status, resent.body.id, resent.body.status]).toEqual([200, delivery.id, 'pending']);
  const [first, second] = await receiver.receives(2);
  expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
  expect(second!.body).toBe(first!.body);
  const [shown] = await waitUntil(deliveries, ([resentDelivery]) => resentDelivery.attempts.length === 2);
  expect(shown.status).toBe('delivered');
  const unknown = await ada.asSession('POST', `${path}/deliveries/dlv_none/resend`);
  expect([unknown.status, unknown.body.error.code]).toEqual([404, 'not_found']);
});

test('a disabled webhook receives no event, test or resend until it is enabled, and keeps what it misses', async () => {
  useFakeClock();
  onTestFinished(loseHints().stop);
  const replies = [{ status: 500 }, { status: 200 }];
  const { ada, receiver, path, deliveries, hint } = await sellerWithWebhook({}, ...replies);
  const { body: delivery } = await ada.asSession('POST', `${path}/test`);
  await consume(hint);
  expect((await deliveries())[0]).toMatchObject({ next_attempt_at: expect.any(String), attempts: [{}] });
  await ada.asSession('PATCH', path, { status: 'disabled' });
  expect(await deliveries()).toMatchObject([{ id: delivery.id, status: 'failed', next_attempt_at: null }]);
  for (const action of ['test', `deliveries/${delivery.id}/resend`]) {
    const { status, body } = await ada.asSession('POST', `${path}/${action}`);
    expect([action, status, body.error.code]).toEqual([action, 409, 'invalid_transition']);
  }
  await ada.createLicense();
  await waitUntil(
    async () => (await ada.asSession('GET', '/api/dashboard')).body.recent_events,
    ({ length }) => length === 2,
  );
  expect(await deliveries()).toMatchObject([
    { event: 'license.created', status: 'failed' },
    { id: delivery.id },
  ]);
  await consume(hint);
  expect(await receiver.received()).toHaveLength(1);
  await ada.asSession('PATCH', path, { status: 'enabled' });
  expect((await ada.asSession('POST', `${path}/deliveries/${delivery.id}/resend`)).status).toBe(200);
  await consume(hint);
  expect(await receiver.received()).toHaveLength(2);
});
