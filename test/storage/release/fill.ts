// Fills a release by way of its API, and writes what it has stored and answered to release.json. scripts/fill-release.ts runs
// this file as a test, with the code of the release.
import { createExecutionContext, runDurableObjectAlarm, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import worker from '../../../src/index.ts';
import { WebhookOutbox } from '../../../src/webhooks/webhook-outbox.ts';
import { press } from '../../billing/sandbox.ts';
import { type Json, ORIGIN } from '../../support/client.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { evict, gate } from '../../support/gate.ts';
import { consume, evictOutbox, loseHints, waitUntil, withOutboxMethod } from '../../support/outbox.ts';
import { newReceiver } from '../../support/receiver.ts';
import { dumpDatabase, dumpObject } from './dump.ts';
import {
  DATABASES,
  deliverAll,
  readDeliveries,
  record,
  type Recorded,
  type Release,
  type Seller,
} from './fixture.ts';
import {
  addLicenses,
  changeLicenses,
  enroll,
  type Enrolled,
  listCalls,
  PASSWORD,
  putProducts,
} from './seller.ts';

const NOW = '2030-03-13T12:00:00.000Z';
const at = (time: string) => vi.setSystemTime(Date.parse(`${time}:00.000Z`));

const pay = async (ada: Enrolled) => {
  const { checkout_url: url } = await ada.post('/api/init-payment', { plan: 'pro' });
  expect((await press(url, 'paid')).status).toBe(303);
};

/** Lets the gate forward its events to the outbox. */
const forward = ({ accountId }: Enrolled) => runDurableObjectAlarm(gate(accountId));

/** Delivers what is due now. */
const deliver = (accountId: string, endpoints: Json[], environment: Env = env) =>
  Promise.all(endpoints.map(({ id }) => consume({ account_id: accountId, endpoint_id: id }, environment)));

/** Makes a change whose request dies between its commit to D1 and the call that lets the gate apply it. */
const changeAndDie = async ({ bearer }: Enrolled, path: string, body: Json = {}) => {
  const GATE = new Proxy(env.GATE, {
    get: (namespace, property) =>
      property === 'getByName'
        ? (name: string) =>
            new Proxy(namespace.getByName(name), {
              get: (stub, method) =>
                method === 'apply' ? () => Promise.reject(new Error('killed')) : Reflect.get(stub, method),
            })
        : Reflect.get(namespace, property),
  });
  const ctx = createExecutionContext();
  const request = new Request(ORIGIN + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer },
    body: JSON.stringify(body),
  });
  expect((await worker.fetch(request, { ...env, GATE }, ctx)).status).toBe(503);
  await waitOnExecutionContext(ctx);
};

test('fills the release', { timeout: 300_000 }, async () => {
  useFakeClock(Date.parse('2030-02-20T09:00:00.000Z'));
  const hints = loseHints();
  const receivers = [await newReceiver(), await newReceiver(), await newReceiver({ status: 410 })];
  const [good, failing, gone] = receivers.map(({ url }) => url);

  const bob = await enroll('bob@example.com');
  const bobsLicense = await bob.addLicense({ customer_name: 'Bob’s only customer' });
  const ada = await enroll('ada@example.com');
  for (const input of [
    { name: 'application', scope: 'verify' },
    { name: 'expired', expires_at: '2030-03-01T00:00:00.000Z' },
    { name: 'deleted' },
  ])
    ada.keyIds.push((await ada.addKey(input)).id);
  const keys = await Promise.all(
    ada.keyIds.map((id) => ada.send('GET', `/api/api-keys/${id}`, undefined, ada.bearer)),
  );
  await putProducts(ada);
  const licenses = await addLicenses(ada);
  await forward(ada);

  at('2030-02-25T10:00');
  for (const name of ['plain', 'ended', 'ending']) await ada.apply('verify', licenses[name]);
  await forward(ada);

  at('2030-02-28T12:00');
  await pay(ada);
  await forward(ada);
  const endpoints = [
    await ada.addEndpoint({ url: good }),
    await ada.addEndpoint({ url: failing, events: ['license.created'], description: 'Down' }),
    await ada.addEndpoint({ url: gone, events: ['license.created'] }),
    await ada.addEndpoint({ url: good, events: ['activation.created', 'activation.released'] }),
  ];

  at('2030-03-08T08:00');
  await changeLicenses(ada, licenses);
  const tokens: string[] = [];
  for (const [name, machine] of [
    ['seats', 1],
    ['seats', 2],
    ['ownTerms', 3],
    ['ownTerms', 4],
  ] as const) {
    const fields = { fingerprint: `machine-000${machine}`, name: `Machine ${machine}`, platform: 'linux' };
    tokens.push((await ada.apply('activate', licenses[name], fields)).token);
  }
  await ada.apply('activate', licenses['seats'], { fingerprint: 'machine-0005' });
  await ada.apply('deactivate', licenses['ownTerms'], { fingerprint: 'machine-0004' });
  const fileOf = (name: string, body: Json) => ada.post(`/api/v1/licenses/${licenses[name].id}/token`, body);
  tokens.push((await fileOf('ownTerms', { fingerprint: 'machine-0006', days: 60 })).token);
  await forward(ada);
  await deliver(ada.accountId, endpoints);

  at('2030-03-12T20:00');
  await ada.send('DELETE', `/api/api-keys/${ada.keyIds[3]}`, undefined, ada.bearer);
  await ada.apply('activate', licenses['floating'], { fingerprint: 'machine-0001' });
  await ada.post(`/api/webhooks/${endpoints[3].id}/rotate-secret`);
  await ada.apply('verify', licenses['plain']);

  at('2030-03-13T11:00');
  const login = await ada.send('POST', '/api/login', { email: ada.email, password: PASSWORD });
  licenses['repeated'] = await ada.addLicense({ customer_name: 'Once' }, { 'idempotency-key': 'order-17' });
  await receivers[1]?.answers({ status: 500 });
  await forward(ada);
  await deliver(ada.accountId, endpoints);
  at('2030-03-13T11:01');
  await deliver(ada.accountId, endpoints);

  // Stops in the midst of everything: an attempt is in progress, deliveries are due, events wait in the gate, and D1 has
  // changes that the gate has not applied.
  vi.setSystemTime(Date.parse(NOW));
  await ada.addLicense({ customer_name: 'In progress' });
  const [first] = endpoints;
  const seller: Seller = {
    accountId: ada.accountId,
    email: ada.email,
    password: PASSWORD,
    session: ada.session,
    endpointIds: endpoints.map(({ id }) => id),
  };
  await forward(ada);
  await deliver(
    ada.accountId,
    [first],
    withOutboxMethod('claim', async (claim, args) => {
      await claim(...args);
      throw new Error('killed');
    }),
  );
  await ada.addLicense({ customer_name: 'Due' });
  await ada.apply('activate', licenses['floating'], { fingerprint: 'machine-0007' });
  await forward(ada);
  const accept = vi.spyOn(WebhookOutbox.prototype, 'accept').mockRejectedValue(new Error('killed'));
  await ada.apply('verify', licenses['plain']);
  await ada.apply('verify', licenses['seats'], { fingerprint: 'machine-0001' });
  await waitUntil(
    async () => accept.mock.calls.length,
    (calls) => calls > 0,
  );
  await changeAndDie(ada, `/api/v1/licenses/${licenses['plain'].id}/suspend`);
  await changeAndDie(ada, '/api/v1/licenses/create', { license_key: 'BORN-IN-A-CRASH' });
  licenses['crashed'] = (
    await ada.send('GET', '/api/v1/licenses?q=BORN-IN-A-CRASH', undefined, ada.bearer)
  ).data[0];
  for (const { accountId } of [ada, bob]) {
    await evict(accountId);
    await evictOutbox(accountId);
  }

  const release: Release = {
    migrations: env.MIGRATIONS.length,
    // Later than everything that is stored, whose ids sort by time.
    nowMs: Date.now() + 1_000,
    databases: { DB: await dumpDatabase(env.DB), DB2: await dumpDatabase(env.DB2) },
    objects: [],
    sellers: [
      seller,
      { ...seller, email: bob.email, accountId: bob.accountId, session: bob.session, endpointIds: [] },
    ],
    tokens,
    earlierSecret: endpoints[3].secret,
    calls: [],
    sent: {},
    deliveries: {},
  };
  for (const { accountId } of [ada, bob])
    for (const binding of ['GATE', 'OUTBOX'] as const)
      release.objects.push(await dumpObject(binding, accountId));
  accept.mockRestore();
  const stored = JSON.stringify([release.databases, release.objects]);
  const isStored = (id: string) => stored.includes(id);
  expect(DATABASES.every((name) => release.databases[name].length > 0)).toBe(true);

  // From here on, the release goes on by itself. Each later release must answer and deliver the same.
  const before = await Promise.all(receivers.map(async ({ received }) => (await received()).length));
  await Promise.all(receivers.map(({ answers }) => answers({ status: 200 })));
  const verifyWith = (apiKey: string, license: Json): Omit<Recorded, 'status' | 'answer'> => ({
    method: 'POST',
    path: '/api/v1/licenses/verify',
    headers: { 'x-api-key': apiKey },
    body: { license_key: license.license_key },
  });
  const calls = [
    ...listCalls(ada, licenses, endpoints, [ada.session, login.session.token, 'lks_unknown']),
    ...keys.map(({ api_key }) => verifyWith(api_key, licenses['ownKey'])),
    verifyWith(bob.apiKey, bobsLicense),
    { method: 'GET', path: '/api/v1/licenses', headers: bob.bearer },
    { method: 'POST', path: '/api/login', headers: {}, body: { email: ada.email, password: PASSWORD } },
    { method: 'POST', path: '/api/login', headers: {}, body: { email: ada.email, password: 'wrong' } },
  ];
  vi.setSystemTime(release.nowMs);
  await forward(ada);
  for (const each of calls) release.calls.push(await record(each));
  await deliverAll(seller);
  for (const [i, { received }] of receivers.entries()) {
    const url = receivers[i]?.url ?? '';
    const ids = (await received()).slice(before[i]).map(({ headers }) => headers['webhook-id'] ?? '');
    release.sent[url] = ids.filter(isStored).toSorted();
  }
  for (const id of seller.endpointIds) release.deliveries[id] = await readDeliveries(seller, id, isStored);
  hints.stop();

  const urls = receivers.map(({ url }) => url);
  const text = urls.reduce(
    (json, url, i) => json.replaceAll(url, `http://127.0.0.1:1/receiver-${i + 1}`),
    JSON.stringify(release, null, 1),
  );
  await expect(`${text}\n`).toMatchFileSnapshot('release.json');
});
