import {
  createExecutionContext,
  listDurableObjectIds,
  runDurableObjectAlarm,
  runInDurableObject,
  waitOnExecutionContext,
} from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import * as fc from 'fast-check';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { AccountGate } from '../../src/gate/home/account-gate.ts';
import worker from '../../src/index.ts';
import { type Customer, ORIGIN, signUp } from '../support/client.ts';
import { evict, gate } from '../support/gate.ts';

const SEED = 20_261_121;
const FORGERIES = 10_000;

const BASE62 = Array.from('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');
const PREFIX = 'lk_live_';
const ID_LENGTH = 20;

let ada: Customer;
let eve: Customer;

beforeAll(async () => {
  [ada, eve] = await Promise.all([signUp(), signUp()]);
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Wraps `target` in a proxy that counts its method calls. */
const countCalls = <T extends object>(target: T) => {
  const counter = { calls: 0 };
  const proxy = new Proxy(target, {
    get: (real, name) => {
      const value: unknown = Reflect.get(real, name, real);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        counter.calls++;
        return Reflect.apply(value, real, args);
      };
    },
  });
  return { proxy, counter };
};

/** The Worker with bindings that count their calls. */
const countingWorker = () => {
  const databases = [countCalls(env.DB), countCalls(env.DB2)] as const;
  const gates = countCalls(env.GATE);
  const countingEnv = { ...env, DB: databases[0].proxy, DB2: databases[1].proxy, GATE: gates.proxy };
  const verify = async (apiKey: string) => {
    const context = createExecutionContext();
    const request = new Request(`${ORIGIN}/api/v1/licenses/verify`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: '{"license_key":"UNKNOWN-KEY"}',
    });
    const response = await worker.fetch(request, countingEnv, context);
    await waitOnExecutionContext(context);
    return { status: response.status, body: await response.json() };
  };
  return {
    verify,
    databaseCalls: () => databases[0].counter.calls + databases[1].counter.calls,
    gateCalls: () => gates.counter.calls,
  };
};

/** Counts every D1 query of the Worker and the gates, which all go through these three methods. */
const countQueries = () => {
  const binding = Object.getPrototypeOf(env.DB) as D1Database;
  const spies = [vi.spyOn(binding, 'prepare'), vi.spyOn(binding, 'batch'), vi.spyOn(binding, 'exec')];
  return () => spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
};

const letters = (length: number) =>
  fc.array(fc.constantFrom(...BASE62), { minLength: length, maxLength: length }).map((all) => all.join(''));

const swapCase = (letter: string) =>
  letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();

const swapped = (key: string, i: number, j: number) => {
  const characters = Array.from(key);
  [characters[i], characters[j]] = [characters[j] ?? '', characters[i] ?? ''];
  return characters.join('');
};

/** A valid API key with one corruption. */
const corrupted = (key: string): fc.Arbitrary<string> => {
  const position = fc.nat(key.length - 1);
  const replaceAt = (i: number, text: string) => key.slice(0, i) + text + key.slice(i + 1);
  return fc.oneof(
    fc.tuple(position, fc.constantFrom(...BASE62)).map(([i, letter]) => replaceAt(i, letter)),
    fc.tuple(position, fc.string({ minLength: 1, maxLength: 1 })).map(([i, letter]) => replaceAt(i, letter)),
    position.map((i) => replaceAt(i, swapCase(key.charAt(i)))),
    position.map((i) => replaceAt(i, '')),
    position.map((i) => key.slice(0, i)),
    position.map((i) => key.slice(i)),
    fc.tuple(position, position).map(([i, j]) => swapped(key, i, j)),
    fc
      .tuple(position, fc.constantFrom(...BASE62))
      .map(([i, letter]) => key.slice(0, i) + letter + key.slice(i)),
    fc.string({ minLength: 1, maxLength: 8 }).map((more) => key + more),
    fc.constantFrom(key.toLowerCase(), key.toUpperCase(), key + key, `Bearer ${key}`, `"${key}"`),
  );
};

/** A valid API key with some of its id, account, secret and tag replaced by another key's. */
const spliced = (mine: string, others: string): fc.Arbitrary<string> => {
  const cuts = [PREFIX.length, PREFIX.length + ID_LENGTH, PREFIX.length + 2 * ID_LENGTH, mine.length - 11];
  const parts = (key: string) => [...cuts.map((cut, i) => key.slice(cut, cuts[i + 1])), ''].slice(0, 4);
  const [ours, theirs] = [parts(mine), parts(others)];
  return fc
    .array(fc.boolean(), { minLength: 4, maxLength: 4 })
    .map((choices) => PREFIX + choices.map((keepsOurs, i) => (keepsOurs ? ours : theirs)[i]).join(''));
};

const forgeries = (valid: [string, string]): fc.Arbitrary<string> => {
  const [mine, others] = valid;
  const ids = mine.slice(PREFIX.length, PREFIX.length + 2 * ID_LENGTH);
  return (
    fc
      .oneof(
        fc.string({ minLength: 1, maxLength: 120 }),
        letters(73).map((body) => PREFIX + body),
        letters(33).map((rest) => PREFIX + ids + rest),
        letters(11).map((tag) => mine.slice(0, -11) + tag),
        letters(ID_LENGTH).map(
          (account) =>
            mine.slice(0, PREFIX.length + ID_LENGTH) + account + mine.slice(PREFIX.length + 2 * ID_LENGTH),
        ),
        spliced(mine, others),
        { weight: 4, arbitrary: fc.oneof(corrupted(mine), corrupted(others)) },
      )
      // Headers are trimmed, which could leave an empty value or a valid API key.
      .filter((key) => key.trim() !== '' && !valid.includes(key.trim()))
  );
};

test('10,000 forged API keys are refused without calling a gate or D1', async () => {
  const valid: [string, string] = [ada.apiKey, eve.apiKey];
  const before = await listDurableObjectIds(env.GATE);
  const { verify, databaseCalls, gateCalls } = countingWorker();
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(forgeries(valid), async (apiKey) => {
      seen.add(apiKey);
      expect(await verify(apiKey)).toMatchObject({
        status: 403,
        body: { error: { code: 'api_key_invalid' } },
      });
    }),
    { seed: SEED, numRuns: FORGERIES },
  );
  expect(seen.size).toBeGreaterThan(FORGERIES / 2);
  expect(databaseCalls()).toBe(0);
  expect(gateCalls()).toBe(0);
  const after = await listDurableObjectIds(env.GATE);
  expect(after.map(String).toSorted()).toEqual(before.map(String).toSorted());
});

test('verifying with a valid API key calls one gate, which proves the counter works', async () => {
  const { verify, databaseCalls, gateCalls } = countingWorker();
  expect((await verify(ada.apiKey)).status).toBe(200);
  expect(gateCalls()).toBe(1);
  expect(databaseCalls()).toBe(0);
});

test('verifying with a valid API key never reads D1, even right after an eviction', async () => {
  const license = await ada.createLicense();
  // The alarm set by the change above reads D1, so it must run before the count starts.
  await runDurableObjectAlarm(gate(ada.accountId));
  const queries = countQueries();
  for (const licenseKey of [license.license_key, 'UNKNOWN-KEY']) {
    expect((await ada.verify(licenseKey)).status).toBe(200);
    await evict(ada.accountId);
    expect((await ada.verify(licenseKey)).status).toBe(200);
  }
  expect(queries()).toBe(0);
});

test('queries by the Worker and by a gate are both counted, which proves the counter works', async () => {
  const queries = countQueries();
  expect((await ada.asSession('GET', '/api/account')).status).toBe(200);
  const byWorker = queries();
  expect(byWorker).toBeGreaterThan(0);
  await evict(ada.accountId);
  await runInDurableObject(gate(ada.accountId), (instance: AccountGate) => instance.pull());
  expect(queries()).toBeGreaterThan(byWorker);
});
