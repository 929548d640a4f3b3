import { applyD1Migrations, reset, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { Webhook } from 'standardwebhooks';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { call, type Json, ORIGIN } from '../support/client.ts';
import { atTime, useFakeClock } from '../support/fake-clock.ts';
import { evict, gate } from '../support/gate.ts';
import { asOperator, withOperatorToken } from '../support/operator.ts';
import { evictOutbox, loseHints, outbox } from '../support/outbox.ts';
import type { Received } from '../support/receiver-server.ts';
import { newReceiver } from '../support/receiver.ts';
import {
  DATABASES,
  deliverAll,
  readDeliveries,
  record,
  type Recorded,
  type Release,
  type StoredObject,
} from './release/fixture.ts';
import fixture from './releases/2026-11-22.json' with { type: 'json' };

// The service of an earlier release, which stopped in the midst of its work, after an update to this one. The tests follow
// one another.

let release: Release;
let receivers: Awaited<ReturnType<typeof newReceiver>>[];
/** What the release had stored. */
let stored: string;
let nowMs: number;

const isStored = (eventId: string) => stored.includes(eventId);

const loadDatabase = async (name: (typeof DATABASES)[number]) => {
  const d1 = env[name];
  await applyD1Migrations(d1, env.MIGRATIONS.slice(0, release.migrations));
  await d1.batch(release.databases[name].map((statement) => d1.prepare(statement)));
  await applyD1Migrations(d1, env.MIGRATIONS);
};

const loadObject = async ({ binding, accountId, statements, values, alarmMs }: StoredObject) => {
  const stub: DurableObjectStub = binding === 'GATE' ? gate(accountId) : outbox(accountId);
  await runInDurableObject(stub, async (_instance, { storage }) => {
    await storage.deleteAll();
    for (const statement of statements) storage.sql.exec(statement);
    for (const [name, value] of values) storage.kv.put(name, value);
    if (alarmMs !== null) await storage.setAlarm(alarmMs);
  });
  await (binding === 'GATE' ? evict : evictOutbox)(accountId);
};

beforeAll(async () => {
  receivers = [await newReceiver(), await newReceiver(), await newReceiver()];
  const json = receivers.reduce(
    (text, { url }, i) => text.replaceAll(`http://127.0.0.1:1/receiver-${i + 1}`, url),
    JSON.stringify(fixture),
  );
  release = JSON.parse(json) as Release;
  stored = JSON.stringify([release.databases, release.objects]);
  ({ nowMs } = release);
  await atTime(nowMs, async () => {
    await reset();
    for (const name of DATABASES) await loadDatabase(name);
    for (const object of release.objects) await loadObject(object);
  });
});

beforeEach(() => {
  useFakeClock(nowMs);
  const hints = loseHints();
  return hints.stop;
});

const [ada] = (fixture as unknown as Release).sellers;
if (!ada) throw new Error('The fixture has no seller.');
const asAda = (method: string, path: string, body?: unknown) =>
  call(method, path, { body, headers: { authorization: `Bearer ${ada.session}` } });

test('each call is answered as the release would have answered it', async () => {
  await runDurableObjectAlarm(gate(ada.accountId));
  for (const recorded of release.calls) {
    const { method, path, headers, body, status, answer } = recorded;
    const now = await record({ method, path, headers, body });
    expect(now, `${method} ${path} ${JSON.stringify(body) ?? ''}`).toMatchObject({ status, answer });
  }
});

test('tokens of the release are verified with the keys that the service has now', async () => {
  const keys = createLocalJWKSet((await call('GET', `/api/v1/jwks/${ada.accountId}`)).body);
  for (const token of release.tokens) {
    const { payload } = await jwtVerify(token, keys, { audience: ada.accountId, currentDate: new Date() });
    expect(payload).toMatchObject({ iss: ORIGIN, valid: true });
  }
  expect(release.tokens).toHaveLength(5);
});

test('each event that waited is sent once, signed with the secrets of the release', async () => {
  await deliverAll(ada);
  nowMs = Date.now();
  for (const { url, received } of receivers) {
    const ids = (await received()).map(({ headers }) => headers['webhook-id'] ?? '');
    expect(ids.filter(isStored).toSorted()).toEqual(release.sent[url]);
  }
  const lastEndpoint = (await asAda('GET', `/api/webhooks/${ada.endpointIds.at(-1)}`)).body;
  const activations = (await receivers[0]?.received())?.filter(({ body }) =>
    body.includes('activation.created'),
  );
  const secrets = [release.earlierSecret, lastEndpoint.secret];
  const isSigned = ({ headers, body }: Received) => {
    vi.setSystemTime(Number(headers['webhook-timestamp']) * 1_000);
    const sent = headers['webhook-signature']?.split(' ') ?? [];
    const signAt = new Date(Date.now());
    return secrets.every((secret) =>
      sent.includes(new Webhook(secret).sign(headers['webhook-id'] ?? '', signAt, body)),
    );
  };
  expect(activations?.filter(isSigned)).toHaveLength(1);
  for (const id of ada.endpointIds)
    expect(await readDeliveries(ada, id, isStored)).toEqual(release.deliveries[id]);
  expect(Object.values(release.sent).map(({ length }) => length)).toEqual([7, 4, 0]);
});

const LICENSE_PATH = /^\/api\/v1\/licenses\/lic_\w+$/;

test('what the release had stored is exported', async () => {
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
  const licenses = release.calls.filter(({ path, status }) => status === 200 && LICENSE_PATH.test(path));
  expect(licenses.length).toBeGreaterThan(10);
  for (const { path } of licenses) expect(text).toContain(path.split('/').at(-1));
});

test('what the release didn’t have works with its data', async () => {
  const sessions = (await asAda('GET', '/api/sessions')).body.data;
  expect(sessions.map(({ id, current }: Json) => [id.slice(0, 4), current])).toEqual([
    ['ses_', false],
    ['ses_', false],
    ['ses_', true],
  ]);
  expect((await asAda('DELETE', `/api/sessions/${sessions[1].id}`)).status).toBe(200);
  expect((await asAda('GET', '/api/sessions')).body.data).toHaveLength(2);

  const [{ headers, path }] = release.calls.filter(({ headers }) => 'x-api-key' in headers) as [Recorded];
  const verify = async (key = headers['x-api-key'] ?? '') => {
    const { status, body } = await call('POST', path, {
      body: { license_key: 'OWN-KEY-0001' },
      headers: { 'x-api-key': key },
    });
    return [status, body.api_usage ?? body.error.code];
  };
  expect(await verify()).toEqual([200, 36]);
  const [key] = (await asAda('GET', '/api/api-keys')).body.data.toReversed();
  const rotated = await asAda('POST', `/api/api-keys/${key.id}/rotate`);
  expect(await verify(rotated.body.api_key)).toEqual([200, 37]);

  const stop = withOperatorToken();
  expect((await asOperator('POST', '/operator/reseal', {})).body).toEqual({ left: 0, old_secret_keys: 0 });
  await asOperator('POST', `/operator/accounts/${ada.accountId}/suspend`);
  expect(await verify()).toEqual([403, 'account_suspended']);
  await asOperator('POST', `/operator/accounts/${ada.accountId}/reinstate`);
  expect(await verify()).toEqual([200, 38]);
  stop();
  const actions = (await asAda('GET', '/api/audit-log')).body.data.map(({ action }: Json) => action);
  expect(actions.slice(0, 4)).toEqual([
    'account.reinstate',
    'account.suspend',
    'api_key.rotate',
    'session.end',
  ]);
});
