import { listDurableObjectIds } from 'cloudflare:test';
import { env, exports } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { call, freshAddress, type Json, ORIGIN } from '../support/client.ts';

// Both bindings have the same prototype.
const namespace = Object.getPrototypeOf(env.GATE) as Env['GATE'];

const PARIS = { continent: 'EU', latitude: '48.9', longitude: '2.4' };

const objectIds = async () =>
  [...(await listDurableObjectIds(env.GATE)), ...(await listDurableObjectIds(env.OUTBOX))].map(String);

let people = 0;

const registerFrom = async (cf: CfProperties, fields: object = {}) => {
  const response = await exports.default.fetch(
    new Request(`${ORIGIN}/api/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'cf-connecting-ip': freshAddress() },
      body: JSON.stringify({ email: `region-${++people}@example.com`, password: '0123456789', ...fields }),
      cf,
    }),
  );
  return { status: response.status, body: await response.json<Json>() };
};

afterEach(() => {
  vi.restoreAllMocks();
});

test('registering places both objects in the region nearest to the caller', async () => {
  const before = await objectIds();
  const getByName = vi.spyOn(namespace, 'getByName');
  const { status, body } = await registerFrom(PARIS);
  expect(status).toBe(201);
  expect(body.account.home_region).toBe('weur');
  const first = [body.account.id, { locationHint: 'weur' }];
  expect(getByName.mock.calls.slice(0, 2)).toEqual([first, first]);
  const added = (await objectIds()).filter((id) => !before.includes(id));
  const expected = [env.GATE.idFromName(body.account.id), env.OUTBOX.idFromName(body.account.id)];
  expect(added).toEqual(expected.map(String));
});

test('registering places both objects in the chosen region, and the account shows it', async () => {
  const getByName = vi.spyOn(namespace, 'getByName');
  const { body } = await registerFrom(PARIS, { home_region: 'apac-ne' });
  const first = [body.account.id, { locationHint: 'apac-ne' }];
  expect(getByName.mock.calls.slice(0, 2)).toEqual([first, first]);
  const headers = { authorization: `Bearer ${body.session.token}` };
  expect((await call('GET', '/api/account', { headers })).body.home_region).toBe('apac-ne');
});

test('registering from an unknown location leaves the placement to Cloudflare', async () => {
  const getByName = vi.spyOn(namespace, 'getByName');
  const { body } = await registerFrom({});
  expect(body.account.home_region).toBe(null);
  expect(getByName.mock.calls[0]).toEqual([body.account.id, undefined]);
});

test('registering succeeds while the objects can’t be reached', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  vi.spyOn(namespace, 'getByName').mockReturnValue({
    pull: () => Promise.reject(new Error('unreachable')),
    listEndpoints: () => Promise.reject(new Error('unreachable')),
  } as never);
  const { status, body } = await registerFrom(PARIS);
  expect(status).toBe(201);
  expect(body.account.home_region).toBe('weur');
  expect(JSON.stringify(logged.mock.calls)).toContain('objects_not_placed');
});

test.for(['sam', 'WEUR', '', null])('rejects the region %j and names the field', async (home_region) => {
  const { status, body } = await registerFrom(PARIS, { home_region });
  expect(status).toBe(400);
  expect(JSON.stringify(body)).toContain('home_region');
});
