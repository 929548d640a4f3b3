import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import worker from '../../src/index.ts';
import { type Customer, type Json, ORIGIN } from '../support/client.ts';
import { sellerWithLicense } from '../support/worlds.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Records the calls to the gate and the round trips to D1, in their order. */
const recordTrips = () => {
  const trips: string[] = [];
  const recordD1 = (prototype: object, methods: string[]) => {
    for (const method of methods) {
      const original = Reflect.get(prototype, method) as (...args: unknown[]) => unknown;
      vi.spyOn(prototype as Record<string, () => unknown>, method).mockImplementation(function (
        this: unknown,
        ...args: unknown[]
      ) {
        trips.push('D1');
        return original.apply(this, args);
      });
    }
  };
  recordD1(Object.getPrototypeOf(env.DB) as object, ['batch', 'exec']);
  recordD1(Object.getPrototypeOf(env.DB.prepare('SELECT 1')) as object, ['all', 'first', 'raw', 'run']);
  const namespace = new Proxy(env.GATE, {
    get: (real, name) =>
      name === 'getByName'
        ? (account: string) =>
            new Proxy(real.getByName(account), {
              get: (stub, method) => {
                trips.push(`gate.${String(method)}`);
                return Reflect.get(stub, method);
              },
            })
        : Reflect.get(real, name),
  });
  return { trips, env: { ...env, GATE: namespace } };
};

const tripsOf = async (method: string, path: string, headers: Record<string, string>, body: object) => {
  const { trips, env: recording } = recordTrips();
  const init = {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
  const response = await worker.fetch(new Request(ORIGIN + path, init), recording, createExecutionContext());
  expect([200, 201]).toContain(response.status);
  await response.body?.cancel();
  return trips;
};

const byKey = ({ apiKey }: Customer) => ({ 'x-api-key': apiKey });
const bySession = ({ token }: Customer) => ({ authorization: `Bearer ${token}` });

const COMMIT = ['gate.announce', 'D1', 'gate.apply'];

interface Row {
  name: string;
  as?: typeof bySession | typeof byKey;
  method?: string;
  path: (license: Json) => string;
  body?: object;
  trips: string[];
}

const licensePath = (name: string) => () => `/api/v1/licenses/${name}`;
const create = { path: licensePath('create'), body: { customer_email: 'ada@example.com' } };

test.for<Row>([
  { name: 'verify', path: licensePath('verify'), body: { license_key: 'UNKNOWN' }, trips: ['gate.verify'] },
  { name: 'create', ...create, trips: ['gate.admit', ...COMMIT] },
  { name: 'create by session', ...create, as: bySession, trips: ['D1', 'gate.admitSession', ...COMMIT] },
  {
    name: 'PATCH',
    method: 'PATCH',
    path: ({ id }) => `/api/v1/licenses/${id}`,
    body: { product: 'Orrery' },
    trips: ['gate.admit', 'D1', ...COMMIT],
  },
  {
    name: 'suspend',
    path: ({ id }) => `/api/v1/licenses/${id}/suspend`,
    trips: ['gate.admit', 'D1', ...COMMIT],
  },
  { name: 'create-api-key', path: () => '/api/create-api-key', trips: ['gate.admit', ...COMMIT, 'D1'] },
])('$name makes $trips.length round trips to the gate and D1', async (row) => {
  const { as = byKey, method = 'POST', path, body = {}, trips } = row;
  const { ada, license } = await sellerWithLicense();
  expect(await tripsOf(method, path(license), as(ada), body)).toEqual(trips);
});
