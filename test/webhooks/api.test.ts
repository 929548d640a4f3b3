import { Webhook } from 'standardwebhooks';
import { afterEach, expect, test, vi } from 'vitest';
import { type Json, signUp } from '../support/client.ts';
import { addEndpoint, until } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';

afterEach(() => {
  vi.useRealTimers();
});

const NOON = Date.parse('2027-03-10T12:00:00.000Z');
const ALL_EVENTS = ['payment.success', 'subscription.cancelled', 'license.created', 'license.verified'];

test('an endpoint is added, listed without its secret, revealed with it, changed and deleted', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOON });
  const ada = await signUp();
  const { url } = await newReceiver();
  const made = await ada.asSession('POST', '/api/webhooks', { url });
  const { secret, old_secret_expires_at: old, ...shown } = made.body;
  expect([made.status, made.headers.get('cache-control'), old]).toEqual([201, 'no-store', null]);
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
  const back = await ada.asSession('PATCH', path, { events: null, description: null, status: 'enabled' });
  expect(back.body).toMatchObject({ events: ALL_EVENTS, description: null, disabled_reason: null });
  expect((await ada.asSession('PATCH', path, {})).body).toEqual(back.body);

  const gone = await ada.asSession('DELETE', path);
  expect([gone.status, gone.body]).toEqual([200, { id: shown.id, deleted: true }]);
  for (const [method, at] of [
    ['GET', path],
    ['DELETE', path],
    ['GET', `${path}/deliveries`],
  ] as const) {
    expect((await ada.asSession(method, at)).body.error.code).toBe('webhook_not_found');
  }
  expect((await ada.asSession('GET', '/api/webhooks')).body.data).toEqual([]);
});

test('what is no webhook is refused with the field at fault', async () => {
  const ada = await signUp();
  const { url } = await newReceiver();
  const { path } = await addEndpoint(ada, url);
  for (const [field, body] of [
    ['url', {}],
    ['url', { url: 'nonsense' }],
    ['url', { url: 'http://example.com/' }],
    ['url', { url: 'https://latchkey.test/hooks' }],
    ['url', { url: `https://example.com/${'x'.repeat(2_048)}` }],
    ['events', { url, events: [] }],
    ['events.0', { url, events: ['webhook.test'] }],
    ['description', { url, description: '' }],
    ['secret', { url, secret: 'whsec_mine' }],
  ] as const) {
    const { status, body: answer } = await ada.asSession('POST', '/api/webhooks', body);
    expect([body, status, answer.error.details[0].path]).toEqual([body, 400, field]);
  }
  const moved = await ada.asSession('PATCH', path, { url: 'https://10.0.0.1/' });
  expect([moved.status, moved.body.error.details[0].path]).toEqual([400, 'url']);
  expect((await ada.asSession('GET', path)).body.url).toBe(url);
});

test('an account may have twenty endpoints, in pages as asked for', async () => {
  const ada = await signUp();
  const { url } = await newReceiver();
  const ids: string[] = [];
  for (let i = 0; i < 20; i++) ids.unshift((await addEndpoint(ada, url)).id);
  const more = await ada.asSession('POST', '/api/webhooks', { url });
  expect([more.status, more.body.error.details[0].path]).toEqual([400, 'url']);
  const first = (await ada.asSession('GET', '/api/webhooks?limit=15')).body;
  const second = (await ada.asSession('GET', `/api/webhooks?limit=15&cursor=${first.next_cursor}`)).body;
  const listed = [...first.data, ...second.data].map(({ id }: Json) => id);
  expect([listed, second.next_cursor]).toEqual([ids, null]);
  await ada.asSession('DELETE', `/api/webhooks/${ids[0]}`);
  expect((await ada.asSession('POST', '/api/webhooks', { url })).status).toBe(201);
});

test('twenty are twenty also when they are asked for at once', async () => {
  const ada = await signUp();
  const { url } = await newReceiver();
  const answers = await Promise.all(
    Array.from({ length: 24 }, () => ada.asSession('POST', '/api/webhooks', { url })),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
});

test('a test event goes to its endpoint alone, whatever that is subscribed to', async () => {
  const ada = await signUp();
  const [asked, other] = [await newReceiver(), await newReceiver()];
  const endpoint = await addEndpoint(ada, asked.url, { events: ['payment.success'] });
  await addEndpoint(ada, other.url);
  await ada.asSession('POST', `${endpoint.path}/test`);
  const [posted] = await asked.receives(1);
  const body = new Webhook(endpoint.secret).verify(posted!.body, posted!.headers);
  expect(body).toMatchObject({ event: 'webhook.test', customer_email: ada.email });
  await ada.createLicense();
  await other.receives(1);
  expect(await asked.received()).toHaveLength(1);
  expect(await other.received()).toHaveLength(1);
});

test('after a rotation both secrets sign for 24 hours, and then the new one alone', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOON });
  const ada = await signUp();
  const receiver = await newReceiver();
  const { path, secret: old } = await addEndpoint(ada, receiver.url);
  const { status, body } = await ada.asSession('POST', `${path}/rotate-secret`);
  const until24h = new Date(NOON + 86_400_000).toISOString();
  expect([status, body.old_secret_expires_at]).toEqual([200, until24h]);
  expect(body.secret).not.toBe(old);
  expect((await ada.asSession('GET', path)).body).toEqual(body);

  const signedBy = async (count: number) => {
    await ada.asSession('POST', `${path}/test`);
    const posted = (await receiver.receives(count)).at(-1)!;
    const verifies = (secret: string) => {
      try {
        return Boolean(new Webhook(secret).verify(posted.body, posted.headers));
      } catch {
        return false;
      }
    };
    return { old: verifies(old), new: verifies(body.secret) };
  };
  vi.setSystemTime(NOON + 86_399_999);
  expect(await signedBy(1)).toEqual({ old: true, new: true });
  vi.setSystemTime(NOON + 86_400_000);
  expect(await signedBy(2)).toEqual({ old: false, new: true });
  expect((await ada.asSession('GET', path)).body.old_secret_expires_at).toBeNull();
});

test('the deliveries log comes in pages, newest first, each delivery with its attempts', async () => {
  const ada = await signUp();
  const receiver = await newReceiver();
  const { path, deliveries } = await addEndpoint(ada, receiver.url);
  const sent: string[] = [];
  for (let i = 0; i < 5; i++) sent.unshift((await ada.asSession('POST', `${path}/test`)).body.id);
  await until(deliveries, (all) => all.length === 5 && all.every(({ status }) => status === 'delivered'));
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

test('a delivery sent again has the same webhook-id and body, and its log goes on', async () => {
  const ada = await signUp();
  const receiver = await newReceiver();
  const { path, deliveries } = await addEndpoint(ada, receiver.url);
  const { body: delivery } = await ada.asSession('POST', `${path}/test`);
  await until(deliveries, ([shown]) => shown.status === 'delivered');
  const again = await ada.asSession('POST', `${path}/deliveries/${delivery.id}/resend`);
  expect([again.status, again.body.id, again.body.status]).toEqual([200, delivery.id, 'pending']);
  const [first, second] = await receiver.receives(2);
  expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
  expect(second!.body).toBe(first!.body);
  const [shown] = await until(deliveries, ([one]) => one.attempts.length === 2);
  expect(shown.status).toBe('delivered');
  const unknown = await ada.asSession('POST', `${path}/deliveries/dlv_none/resend`);
  expect([unknown.status, unknown.body.error.code]).toEqual([404, 'not_found']);
});

test('a disabled endpoint gets nothing: no events, no test, no resend, until it is enabled', async () => {
  const ada = await signUp();
  const receiver = await newReceiver({ status: 500 }, { status: 200 });
  const { path, deliveries } = await addEndpoint(ada, receiver.url);
  const { body: delivery } = await ada.asSession('POST', `${path}/test`);
  await until(deliveries, ([shown]) => shown.next_attempt_at !== null && shown.attempts.length === 1);
  await ada.asSession('PATCH', path, { status: 'disabled' });
  expect(await deliveries()).toMatchObject([{ id: delivery.id, status: 'failed', next_attempt_at: null }]);
  for (const move of ['test', `deliveries/${delivery.id}/resend`]) {
    const { status, body } = await ada.asSession('POST', `${path}/${move}`);
    expect([move, status, body.error.code]).toEqual([move, 409, 'invalid_transition']);
  }
  await ada.createLicense();
  await until(
    async () => (await ada.asSession('GET', '/api/dashboard')).body.recent_events,
    ({ length }) => length === 2,
  );
  expect(await deliveries()).toHaveLength(1);
  await ada.asSession('PATCH', path, { status: 'enabled' });
  expect((await ada.asSession('POST', `${path}/deliveries/${delivery.id}/resend`)).status).toBe(200);
  await receiver.receives(2);
});
