import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, expect, test, vi } from 'vitest';
import worker from '../../src/index.ts';
import { parseDatabases } from '../../src/shared/config/databases.ts';
import { type Found, findMistake, type DatabasePlace } from '../../src/shared/config/places.ts';
import { firstIdAt } from '../../src/shared/text/ids.ts';
import { captureLogs } from '../http/security.ts';
import { type Customer, freshAddress, type Json, ORIGIN, signUp } from '../support/client.ts';
import { recordStatements } from '../support/d1-queries.ts';
import { useFakeClock } from '../support/fake-clock.ts';

// DATABASES is "DB, DB2@2020-01-01" for the accounts of this file. Its text is the name of what an isolate has found out, so that
// another spelling is looked at anew, as if by a new isolate.

let spellings = 0;
const newIsolate = (databases: string, bindings: Record<string, D1Database> = {}): Env => ({
  ...env,
  ...bindings,
  DATABASES: `${databases}${' '.repeat(++spellings)}`,
});
const RIGHT = 'DB, DB2@2020-01-01';

let ada: Customer;
beforeEach(async () => {
  useFakeClock();
  for (const d1 of [env.DB, env.DB2]) await d1.exec('DELETE FROM database_identity');
  ada = await signUp();
});

const send = async (as: Env, method: string, path: string, body?: object) => {
  const request = new Request(ORIGIN + path, {
    method,
    headers: {
      'content-type': 'application/json',
      'cf-connecting-ip': freshAddress(),
      authorization: `Bearer ${ada.token}`,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const response = await worker.fetch(request, as, createExecutionContext());
  return { status: response.status, body: (await response.json()) as Json };
};
const create = (as: Env) => send(as, 'POST', '/api/v1/licenses/create', {});
const register = (as: Env) =>
  send(as, 'POST', '/api/register', {
    email: `${crypto.randomUUID()}@example.com`,
    password: 'correct horse battery',
  });
let checks = 0;

/** Isolates share the answers of two seconds. */
const health = (as: Env) => {
  vi.advanceTimersByTime(10_000 * ++checks);
  return send(as, 'GET', '/health');
};

const rowsIn = async (d1: D1Database) =>
  (await d1.prepare('SELECT service_id, binding, places FROM database_identity').all()).results;
const countAccounts = async (d1: D1Database) =>
  (await d1.prepare('SELECT count(*) AS n FROM accounts').first<{ n: number }>())?.n;

/** A database as after `d1 create` and `d1 migrations apply`. */
const emptied = (d1: D1Database): D1Database =>
  new Proxy(d1, {
    get: (target, property) => {
      if (property !== 'prepare') return Reflect.get(target, property) as unknown;
      return (query: string) =>
        target.prepare(
          query.includes('database_identity WHERE')
            ? 'SELECT NULL AS identity, NULL AS firstId, NULL AS lastId, NULL AS firstUser'
            : query,
        );
    },
  });

test('each database remembers the service and its own name, from its first use on', async () => {
  const isolate = newIsolate(RIGHT);
  expect((await create(isolate)).status).toBe(201);
  const [[first], [second]] = [await rowsIn(env.DB), await rowsIn(env.DB2)];
  expect([first, second]).toMatchObject([{ binding: 'DB' }, { binding: 'DB2' }]);
  expect(first?.service_id).toMatch(/^svc_/);
  expect(second?.service_id).toBe(first?.service_id);
  expect((await create(newIsolate(RIGHT))).status).toBe(201);
  expect([await rowsIn(env.DB), await rowsIn(env.DB2)]).toEqual([[first], [second]]);
});

const swapped = { DB: env.DB2, DB2: env.DB };
test.for([
  { mistake: 'a day that has come was changed', databases: 'DB, DB2@2035-01-01', says: 'DB2' },
  { mistake: 'an entry with accounts was removed', databases: 'DB', says: 'DB2 has left DATABASES' },
  { mistake: 'the entries were swapped', databases: 'DB2, DB@2020-01-01', says: 'must begin with DB' },
  {
    mistake: 'the bindings were swapped',
    databases: RIGHT,
    bindings: swapped,
    says: 'bound to the database that was',
  },
  {
    mistake: 'a new database came first',
    databases: RIGHT,
    bindings: { DB: emptied(env.DB) },
    says: 'DB is bound to a new database',
  },
  {
    mistake: 'a new database replaced a later one',
    databases: RIGHT,
    bindings: { DB2: emptied(env.DB2) },
    says: 'DB2 is bound to a new database',
  },
] as const)('after $mistake, nothing is read or written, and /health and the log say why', async (row) => {
  await create(newIsolate(RIGHT));
  const wrong = newIsolate(row.databases, 'bindings' in row ? row.bindings : {});
  const before = [await countAccounts(env.DB), await countAccounts(env.DB2)];
  const log = captureLogs();
  expect([(await create(wrong)).status, (await register(wrong)).status]).toEqual([503, 503]);
  expect(log.stop()).toContain('databases_refused');
  expect([await countAccounts(env.DB), await countAccounts(env.DB2)]).toEqual(before);
  const { status, body } = await health(wrong);
  expect([status, body.status]).toEqual([503, 'degraded']);
  expect(body.checks.database).toContain(row.says);
  expect((await create(newIsolate(RIGHT))).status).toBe(201);
});

test('databases from before they remembered who they are refuse a day that doesn’t fit their accounts', async () => {
  expect((await create(newIsolate('DB, DB2@2035-01-01'))).status).toBe(503);
  expect(await rowsIn(env.DB)).toEqual([]);
  expect((await create(newIsolate(RIGHT))).status).toBe(201);
});

test('an isolate looks once at each database, a health check writes nothing, and a verify makes no query', async () => {
  const { license_key } = await ada.createLicense();
  const isolate = newIsolate(RIGHT);
  expect((await health(isolate)).status).toBe(200);
  expect(await rowsIn(env.DB)).toEqual([]);
  const isCheck = (statement: string) => statement.includes('database_identity WHERE');
  const first = await recordStatements(() => Promise.all([create(isolate), create(isolate)]));
  expect(first.statements.filter(isCheck).length).toBe(2);
  const later = await recordStatements(() => create(isolate));
  expect(later.statements.filter((statement) => statement.includes('database_identity'))).toEqual([]);
  const verify = await recordStatements(() => ada.verify(license_key));
  expect([verify.result.body.valid, verify.statements]).toEqual([true, []]);
});

const NOW = '2026-06-01';
const idAt = (date: string) => firstIdAt('acct', Date.parse(date));
const placesOf = (text: string): DatabasePlace[] =>
  parseDatabases(text).map(({ binding, firstAccountId }) => ({ binding, firstAccountId }));
/** A database that is in use, as it was when DATABASES was `text`. */
const used = (binding: string, text: string, dates: string[], serviceId = 'svc_1'): Found => ({
  identity: { serviceId, binding, places: placesOf(text) },
  firstId: dates.length > 0 ? idAt(dates[0] ?? '') : null,
  lastId: dates.length > 0 ? idAt(dates.at(-1) ?? '') : null,
  hasUsers: binding === 'A',
  sizeBytes: 0,
});
const NEW: Found = { identity: null, firstId: null, lastId: null, hasUsers: false, sizeBytes: 0 };
const A = used('A', 'A, B@2026-01-01, C@2026-09-01', ['2025-05-01', '2025-12-31']);
const B = used('B', 'A, B@2026-01-01, C@2026-09-01', ['2026-01-01', '2026-05-31']);
const C = used('C', 'A, B@2026-01-01, C@2026-09-01', []);

test.for([
  { name: 'a new service', text: 'A, B@2020-01-01', found: [NEW, NEW], mistake: null },
  { name: 'no change', text: 'A, B@2026-01-01, C@2026-09-01', found: [A, B, C], mistake: null },
  {
    name: 'another day for an entry whose day is to come',
    text: 'A, B@2026-01-01, C@2027-01-01',
    found: [A, B, C],
    mistake: null,
  },
  { name: 'an entry that goes before its day', text: 'A, B@2026-01-01', found: [A, B], mistake: null },
  {
    name: 'a new entry with a day to come',
    text: 'A, B@2026-01-01, D@2026-07-01',
    found: [A, B, NEW],
    mistake: null,
  },
  {
    name: 'a new entry with a day before some accounts',
    text: 'A, B@2026-01-01, D@2026-05-01',
    found: [A, B, NEW],
    mistake: 'B has accounts that',
  },
  {
    name: 'a database from another service',
    text: 'A, B@2026-01-01',
    found: [A, { ...B, identity: { serviceId: 'svc_2', binding: 'B', places: [] } }],
    mistake: 'B is a database of another service',
  },
  {
    name: 'a first database that was restored to the time before it remembered',
    text: 'A, B@2026-01-01',
    found: [{ ...A, identity: null }, B],
    mistake: null,
  },
  {
    name: 'a new first database',
    text: 'A, B@2026-01-01',
    found: [NEW, B],
    mistake: 'A is bound to a new database',
  },
  {
    name: 'a database that comes first in the place of another',
    text: 'B, A@2027-01-01',
    found: [B, A],
    mistake: 'DATABASES must begin with A',
  },
])('DATABASES is judged by what the databases remember: $name', ({ text, found, mistake }) => {
  const says = findMistake(placesOf(text), found, idAt(NOW));
  expect(says?.slice(0, mistake?.length) ?? null).toBe(mistake);
});
