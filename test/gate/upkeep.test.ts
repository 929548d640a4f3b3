import { createExecutionContext, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { openAnnounced } from '../../src/gate/home/announced.ts';
import worker from '../../src/index.ts';
import { ORIGIN, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { evict, gate, statistics, tamper, withoutTables } from '../support/gate.ts';
import { sellerWithWebhook } from '../support/worlds.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const NOW = Date.parse('2027-03-10T12:00:00.000Z');

/** Counts every D1 query of the Worker and the gates, which all go through these methods. */
const countQueries = () => {
  const binding = Object.getPrototypeOf(env.DB) as D1Database;
  const spies = [vi.spyOn(binding, 'prepare'), vi.spyOn(binding, 'batch'), vi.spyOn(binding, 'exec')];
  return () => spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
};

const msUntilAlarm = (accountId: string) =>
  runInDurableObject(gate(accountId), async (_instance, { storage }) => {
    const atMs = await storage.getAlarm();
    return atMs === null ? null : atMs - Date.now();
  });

/** Lets so much time pass, with each alarm of the gate at its time. */
const passWithAlarms = async (accountId: string, ms: number) => {
  for (const endMs = Date.now() + ms; Date.now() < endMs;) {
    const dueMs = Date.now() + ((await msUntilAlarm(accountId)) ?? Infinity);
    vi.setSystemTime(Math.min(dueMs, endMs));
    if (dueMs <= endMs) await runDurableObjectAlarm(gate(accountId));
  }
};

test('a lone verify with its event and its alarm queries D1 never', async () => {
  const { ada, receiver } = await sellerWithWebhook({ events: ['license.verified'] });
  const { license_key } = await ada.createLicense();
  await runDurableObjectAlarm(gate(ada.accountId));

  const queries = countQueries();
  for (let i = 1; i <= 3; i++) {
    expect((await ada.verify(license_key)).body.valid).toBe(true);
    await receiver.receives(i);
    await runDurableObjectAlarm(gate(ada.accountId));
  }
  expect(queries()).toBe(0);
});

test('a gate whose changes are all applied leaves no alarm behind that queries D1', async () => {
  const ada = await signUp();
  await ada.createLicense();
  const queries = countQueries();
  await runDurableObjectAlarm(gate(ada.accountId));
  expect(queries()).toBe(0);
});

test('while D1 is down an incomplete gate retries more and more slowly', async () => {
  useFakeClock(NOW);
  const ada = await signUp();
  await ada.createLicense();
  await tamper(
    ada.accountId,
    `UPDATE facts SET value = json_set(value, '$.complete', json('false')) WHERE name = 'progress'`,
  );
  await withoutTables(['accounts', 'licenses', 'feed'], async () => {
    let earliestMs = 0;
    for (let failures = 1; failures <= 6; failures++) {
      await runDurableObjectAlarm(gate(ada.accountId));
      const delayMs = (await msUntilAlarm(ada.accountId)) ?? 0;
      earliestMs = Math.min(150_000, 500 * 2 ** failures);
      expect(delayMs).toBeGreaterThanOrEqual(earliestMs);
      vi.advanceTimersByTime(delayMs);
    }
  });
  await runDurableObjectAlarm(gate(ada.accountId));
  expect((await ada.verify('UNKNOWN-KEY')).body.status).toBe('not_found');
});

/** The Worker's environment, except that `commit` runs each batch of D1, or doesn't, and D1 then loses the answer. */
const losing = (commit: (run: () => Promise<unknown>) => Promise<unknown>) => {
  const db = new Proxy(env.DB2, {
    get: (real, name) => {
      if (name === 'batch') {
        return async (statements: D1PreparedStatement[]) => {
          await commit(() => real.batch(statements));
          throw new Error('D1_ERROR: Network connection lost.');
        };
      }
      const value: unknown = Reflect.get(real, name);
      return typeof value === 'function' ? value.bind(real) : value;
    },
  });
  return { ...env, DB2: db };
};

/** Creates a license with a call whose answer D1 loses. */
const createLost = async (apiKey: string, licenseKey: string, lossy: Env) => {
  const request = new Request(`${ORIGIN}/api/v1/licenses/create`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ license_key: licenseKey, customer_email: 'ada@example.com' }),
  });
  const response = await worker.fetch(request, lossy, createExecutionContext());
  expect(response.status).toBe(503);
  await response.body?.cancel();
};

test.for([
  { what: 'was committed', commits: true, usage: 1, status: 'active' },
  { what: 'was not committed', commits: false, usage: 0, status: 'not_found' },
])('a create whose answer D1 lost counts $usage once it is known that it $what', async (row) => {
  useFakeClock(NOW);
  const ada = await signUp();
  await ada.createLicense();
  const lossy = losing(async (run) => row.commits && run());
  await createLost(ada.apiKey, 'AMBIGUOUS-KEY', lossy);
  expect((await statistics(ada.accountId)).apiUsage).toBe(1);

  vi.advanceTimersByTime(3_500);
  await runDurableObjectAlarm(gate(ada.accountId));
  vi.advanceTimersByTime(90_000);
  await runDurableObjectAlarm(gate(ada.accountId));
  expect((await statistics(ada.accountId)).apiUsage).toBe(row.usage);
  expect((await ada.verify('AMBIGUOUS-KEY')).body.status).toBe(row.status);
});

test.for([4, 10, 40])(
  'a change whose answer was lost is seen within %i s if D1 took as long to make it',
  async (seconds) => {
    useFakeClock(NOW);
    const ada = await signUp();
    const slow = losing(async (run) => {
      await passWithAlarms(ada.accountId, seconds * 1_000);
      await run();
    });
    await createLost(ada.apiKey, 'SLOW-KEY', slow);
    expect((await ada.verify('SLOW-KEY')).body.status).toBe('not_found');
    await passWithAlarms(ada.accountId, seconds * 1_000);
    expect((await ada.verify('SLOW-KEY')).body.status).toBe('active');
  },
);

test('a gate with 1,000 changes of unknown outcome refuses changes until D1 has settled them', async () => {
  useFakeClock(NOW);
  const ada = await signUp();
  await runInDurableObject(gate(ada.accountId), (_instance, { storage }) => {
    const change = (_: unknown, i: number) => ({
      token: `${i}`,
      atMs: NOW,
      ref: `lic_${i}`,
      reservation: null,
    });
    storage.kv.put('announced', Array.from({ length: 1_000 }, change));
  });
  await evict(ada.accountId);
  const refused = await ada.asKey('POST', '/api/v1/licenses/create', { license_key: 'TOO-MANY-CHANGES' });
  expect([refused.status, refused.body.error.code]).toEqual([503, 'unavailable']);
  expect(refused.headers.get('retry-after')).toBe('5');
  expect((await ada.verify('TOO-MANY-CHANGES')).body).toMatchObject({ status: 'not_found', api_usage: 0 });

  vi.advanceTimersByTime(90_000);
  await runDurableObjectAlarm(gate(ada.accountId));
  expect((await ada.asKey('POST', '/api/v1/licenses/create', {})).status).toBe(201);
});

const kvOf = (value: unknown) => ({ get: () => value }) as unknown as SyncKvStorage;

test.for([
  { name: 'no change', atMs: [], inMs: null },
  { name: 'a change announced just now', atMs: [NOW], inMs: 3_000 },
  { name: 'a change checked once', atMs: [NOW - 3_000], inMs: 3_000 },
  { name: 'a change of which D1 has not told for a minute', atMs: [NOW - 60_000], inMs: 30_000 },
  { name: 'a change older than every check', atMs: [NOW - 100_000], inMs: 0 },
  { name: 'two changes', atMs: [NOW - 3_000, NOW], inMs: 3_000 },
])('with $name, D1 has to be checked in $inMs ms', ({ atMs, inMs }) => {
  const dueMs = openAnnounced(
    kvOf(atMs.map((ms, i) => ({ token: `${i}`, atMs: ms, ref: '', reservation: null }))),
  ).dueMs(NOW);
  expect(dueMs === null ? null : dueMs - NOW).toBe(inMs);
});
