import { applyD1Migrations, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { drizzle } from 'drizzle-orm/d1';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { Webhook } from 'standardwebhooks';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { measureStorage } from '../../src/accounts/measure-storage.ts';
import { parseApiKey } from '../../src/api-keys/api-key.ts';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { call, type Json, ORIGIN } from '../support/client.ts';
import { emptyStorage } from '../support/empty-storage.ts';
import { ALL_EVENTS } from '../support/events.ts';
import { atTime, useFakeClock } from '../support/fake-clock.ts';
import { gate } from '../support/gate.ts';
import { consume, loseHints, outbox, runOutboxAlarm } from '../support/outbox.ts';
import type { Received } from '../support/receiver-server.ts';
import { newReceiver } from '../support/receiver.ts';
import {
  carryOver,
  DATABASES,
  loadDatabase,
  loadObject,
  type Recorded,
  readRelease,
  type Release,
  type Seller,
} from './v0.1.0.ts';

// A service of v0.1.0 that stopped in the midst of its work, carried over to this release as docs/running.md says. It must
// answer and deliver what v0.1.0 would have.

let release: Release;
let ada: Seller;
let receivers: Awaited<ReturnType<typeof newReceiver>>[];

// A hint of one test would start a consumer in the next one, whose endpoints have the same ids.
beforeAll(() => loseHints().stop);

beforeEach(async () => {
  receivers = [await newReceiver(), await newReceiver(), await newReceiver()];
  release = await readRelease(receivers.map(({ url }) => url));
  [ada] = release.sellers;
  await atTime(release.nowMs, async () => {
    await emptyStorage();
    for (const name of DATABASES) {
      await loadDatabase(release, name);
      await carryOver(env[name]);
      await applyD1Migrations(env[name], env.MIGRATIONS);
    }
    for (const object of release.objects) await loadObject(object);
  });
  useFakeClock(release.nowMs);
});

const asAda = (method: string, path: string, body?: unknown) =>
  call(method, path, { body, headers: { authorization: `Bearer ${ada.session}` } });

/** v0.1.0 let a session of any age read full API keys and the export. */
const proveAda = async () =>
  expect(await asAda('POST', '/api/reauthenticate', { password: ada.password })).toMatchObject({
    status: 200,
  });

const EVENTS_OF_0_1 = new Set([
  'payment.success',
  'subscription.cancelled',
  'license.created',
  'license.verified',
  'activation.created',
  'activation.released',
  'activation.refused',
  'usage.threshold',
]);
/** An endpoint that gets all events lists these, too. */
const LATER_EVENTS = new Set<unknown>(ALL_EVENTS.filter((name) => !EVENTS_OF_0_1.has(name)));
/** Entries of the audit log that v0.1.0 didn't make, events that it didn't know, and a first step that it didn't have. */
const isLater = (item: Json) =>
  LATER_EVENTS.has(item) || item?.action === 'session.prove' || item?.id === 'create_product';

/** Fields that differ in each run, or that tell of the time of day. */
const VOLATILE = new Set(['token', 'session', 'request_id', 'recent_events', 'delivered_24h']);

const withoutVolatile = (value: Json): Json => {
  if (Array.isArray(value)) return value.filter((item) => !isLater(item)).map(withoutVolatile);
  if (typeof value !== 'object' || value === null) return value;
  const isCount = (name: string) => 'steps' in value && (name === 'completed' || name === 'total');
  const kept = Object.entries(value).filter(([name]) => !VOLATILE.has(name) && !isCount(name));
  return Object.fromEntries(kept.map(([name, field]) => [name, withoutVolatile(field)]));
};

const answerTo = async ({ method, path, headers, body }: Recorded) => {
  const answer = await call(method, path, { body, headers });
  return { status: answer.status, answer: withoutVolatile(answer.body) };
};

/** v0.1.0 counted calls for licenses that don't exist. */
const withoutUncounted = (answer: Json, uncounted: number): Json => {
  if (answer?.api_usage !== undefined) return { ...answer, api_usage: answer.api_usage - uncounted };
  return answer?.usage ? { ...answer, usage: withoutUncounted(answer.usage, uncounted) } : answer;
};

/** v0.1.0 told an application that deactivates everything of its license, though that counts no call. */
const NOTHING = {
  status: null,
  license_id: null,
  product: null,
  expires_at: null,
  entitlements: null,
  seats: null,
};
const withoutLicense = (path: string, answer: Json): Json =>
  answer?.code === 'deactivated' && path.endsWith('/deactivate') ? { ...answer, ...NOTHING } : answer;

test('each call is answered as v0.1.0 would have answered it, but for calls that count nothing', async () => {
  await runDurableObjectAlarm(gate(ada.accountId));
  await proveAda();
  const uncounted: Record<string, number> = {};
  for (const recorded of release.calls) {
    const { method, path, headers, body, status, answer } = recorded;
    const title = `${method} ${path} ${JSON.stringify(body) ?? ''}`;
    const { accountId } = parseApiKey([env.API_KEY_SECRET], headers['x-api-key'] ?? '') ?? ada;
    const isUnknown = answer?.status === 'not_found' && /(?:verify|activate)$/.test(path);
    uncounted[accountId] = (uncounted[accountId] ?? 0) + (isUnknown ? 1 : 0);
    const same = withoutUncounted(withoutLicense(path, answer), uncounted[accountId]);
    const expected = { status, answer: withoutVolatile(same) };
    expect(await answerTo(recorded), title).toMatchObject(expected);
  }
  expect(release.calls.length).toBeGreaterThan(100);
});

test('tokens of v0.1.0 are verified with the keys that the service has now', async () => {
  const keys = createLocalJWKSet((await call('GET', `/api/v1/jwks/${ada.accountId}`)).body);
  for (const token of release.tokens) {
    const { payload } = await jwtVerify(token, keys, { audience: ada.accountId, currentDate: new Date() });
    expect(payload).toMatchObject({ iss: ORIGIN, valid: true });
  }
  expect(release.tokens).toHaveLength(5);
});

/**
 * Keeps a call to the outbox open, because the runtime may restart an object that nobody calls. If that happens during an
 * attempt, the webhook is sent again, which the service may do but this test doesn't expect.
 */
const whileAwake = async (work: () => Promise<void>) => {
  const progress = { isDone: false };
  const awake = runInDurableObject(outbox(ada.accountId), async () => {
    while (!progress.isDone) await scheduler.wait(20);
  });
  await work().finally(() => {
    progress.isDone = true;
  });
  await awake;
};

/** Runs both alarms and the queue's consumer several times within five hours, in which every retry is due. */
const deliverAll = async () => {
  for (let hour = 0; hour < 5; hour++) {
    await runDurableObjectAlarm(gate(ada.accountId));
    await runOutboxAlarm(ada.accountId);
    for (const id of ada.endpointIds) await consume({ account_id: ada.accountId, endpoint_id: id });
    vi.advanceTimersByTime(HOUR_MS);
  }
};

const readDeliveries = async (endpointId: string, isStored: (id: string) => boolean) => {
  const { body } = await asAda('GET', `/api/webhooks/${endpointId}/deliveries?limit=100`);
  const rows = body.data.map(({ event_id, event, status, attempts }: Json) => ({
    event_id,
    event,
    status,
    attempts: attempts.map(({ status_code }: Json) => status_code),
  }));
  return rows.filter(({ event_id: id }: Json) => isStored(id));
};

test('each event that waited is sent once, signed with the secrets that v0.1.0 has stored', async () => {
  const stored = JSON.stringify([release.databases, release.objects]);
  const isStored = (eventId: string) => stored.includes(eventId);
  await whileAwake(deliverAll);
  for (const { url, received } of receivers) {
    const ids = (await received()).map(({ headers }) => headers['webhook-id'] ?? '');
    expect(ids.filter(isStored).toSorted()).toEqual(release.sent[url]);
  }
  for (const id of ada.endpointIds)
    expect(await readDeliveries(id, isStored)).toEqual(release.deliveries[id]);
  expect(Object.values(release.sent).map(({ length }) => length)).toEqual([7, 4, 0]);

  await proveAda();
  const lastEndpoint = (await asAda('GET', `/api/webhooks/${ada.endpointIds.at(-1)}`)).body;
  const activations = (await receivers[0]?.received())?.filter(({ body }) =>
    body.includes('activation.created'),
  );
  const secrets = [release.earlierSecret, lastEndpoint.secret];
  const isSigned = ({ headers, body }: Received) => {
    const signedAt = new Date(Number(headers['webhook-timestamp']) * 1_000);
    const sent = headers['webhook-signature']?.split(' ') ?? [];
    return secrets.every((secret) =>
      sent.includes(new Webhook(secret).sign(headers['webhook-id'] ?? '', signedAt, body)),
    );
  };
  expect(activations?.filter(isSigned)).toHaveLength(1);
});

test('what v0.1.0 has stored is exported', async () => {
  await proveAda();
  const { body: lines } = await asAda('GET', '/api/export');
  const { type, counts } = lines.at(-1);
  expect(type).toBe('end');
  expect(counts).toMatchObject({
    product: 2,
    license: 16,
    activation: 7,
    api_key: 3,
    webhook: 4,
    payment: 1,
  });
  const text = JSON.stringify(lines);
  const paths = release.calls.map(({ path, status }) => (status === 200 ? path : ''));
  const licenses = paths.filter((path) => /^\/api\/v1\/licenses\/lic_\w+$/.test(path));
  expect(licenses.length).toBeGreaterThan(10);
  for (const path of licenses) expect(text).toContain(path.split('/').at(-1));
});

test('the bytes that v0.1.0 has stored are counted by the scheduled work', async () => {
  const unmeasured = 'SELECT count(*) AS n FROM license_totals WHERE bytes IS NULL';
  const counted = 'SELECT account_id, bytes FROM license_totals ORDER BY account_id';
  const stored = 'SELECT account_id, bytes FROM stored_bytes ORDER BY account_id';
  const read = async (query: string) =>
    Promise.all(DATABASES.map(async (name) => (await env[name].prepare(query).all()).results));
  expect(await read(unmeasured)).toEqual([[{ n: 0 }], [{ n: 2 }]]);
  for (const name of DATABASES) await measureStorage({ env, db: drizzle(env[name]) });
  expect(await read(unmeasured)).toEqual([[{ n: 0 }], [{ n: 0 }]]);
  expect(await read(counted)).toEqual(await read(stored));
  const { body } = await asAda('GET', '/api/dashboard');
  expect(body.storage.used).toBeGreaterThan(10_000);
  expect(body.storage.limit).toBeGreaterThanOrEqual(100_000_000);
});
