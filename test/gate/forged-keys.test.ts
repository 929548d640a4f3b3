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
import type { AccountGate } from '../../src/gate/account-gate.ts';
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

/** Passes every call on and counts it. */
const counting = <T extends object>(target: T) => {
  const counted = { calls: 0 };
  const proxy = new Proxy(target, {
    get: (real, name) => {
      const value: unknown = Reflect.get(real, name, real);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        counted.calls++;
        return Reflect.apply(value, real, args);
      };
    },
  });
  return { proxy, counted };
};

/** The Worker over bindings that count. */
const countedWorker = () => {
  const database = counting(env.DB);
  const gates = counting(env.GATE);
  const counted = { ...env, DB: database.proxy, GATE: gates.proxy };
  const verify = async (apiKey: string) => {
    const context = createExecutionContext();
    const request = new Request(`${ORIGIN}/api/v1/licenses/verify`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: '{"license_key":"NOBODYS-KEY"}',
    });
    const response = await worker.fetch(request, counted, context);
    await waitOnExecutionContext(context);
    return { status: response.status, body: await response.json() };
  };
  return { verify, databaseCalls: () => database.counted.calls, gateCalls: () => gates.counted.calls };
};

/** Every query of this runtime, the Worker's and the gates': D1 has no other door than these. */
const watchDatabase = () => {
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

/** A good key, spoilt in one place. */
const spoilt = (key: string): fc.Arbitrary<string> => {
  const place = fc.nat(key.length - 1);
  const replaced = (i: number, text: string) => key.slice(0, i) + text + key.slice(i + 1);
  return fc.oneof(
    fc.tuple(place, fc.constantFrom(...BASE62)).map(([i, letter]) => replaced(i, letter)),
    fc.tuple(place, fc.string({ minLength: 1, maxLength: 1 })).map(([i, letter]) => replaced(i, letter)),
    place.map((i) => replaced(i, swapCase(key.charAt(i)))),
    place.map((i) => replaced(i, '')),
    place.map((i) => key.slice(0, i)),
    place.map((i) => key.slice(i)),
    fc.tuple(place, place).map(([i, j]) => swapped(key, i, j)),
    fc.tuple(place, fc.constantFrom(...BASE62)).map(([i, letter]) => key.slice(0, i) + letter + key.slice(i)),
    fc.string({ minLength: 1, maxLength: 8 }).map((more) => key + more),
    fc.constantFrom(key.toLowerCase(), key.toUpperCase(), key + key, `Bearer ${key}`, `"${key}"`),
  );
};

/** One good key's id, account, secret and tag with parts of another's in their place. */
const spliced = (mine: string, others: string): fc.Arbitrary<string> => {
  const cuts = [PREFIX.length, PREFIX.length + ID_LENGTH, PREFIX.length + 2 * ID_LENGTH, mine.length - 11];
  const parts = (key: string) => [...cuts.map((cut, i) => key.slice(cut, cuts[i + 1])), ''].slice(0, 4);
  const [ours, theirs] = [parts(mine), parts(others)];
  return fc
    .array(fc.boolean(), { minLength: 4, maxLength: 4 })
    .map((choices) => PREFIX + choices.map((own, i) => (own ? ours : theirs)[i]).join(''));
};

const forgeries = (good: [string, string]): fc.Arbitrary<string> => {
  const [mine, others] = good;
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
        { weight: 4, arbitrary: fc.oneof(spoilt(mine), spoilt(others)) },
      )
      // A header's value loses the blanks around it; what is then left may be nothing, or a good key.
      .filter((key) => key.trim() !== '' && !good.includes(key.trim()))
  );
};

test('ten thousand forged keys are refused without one gate or one query', async () => {
  const good: [string, string] = [ada.apiKey, eve.apiKey];
  const before = await listDurableObjectIds(env.GATE);
  const { verify, databaseCalls, gateCalls } = countedWorker();
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(forgeries(good), async (apiKey) => {
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

test('a forged key would have been seen to ask a gate: a good one does', async () => {
  const { verify, databaseCalls, gateCalls } = countedWorker();
  expect((await verify(ada.apiKey)).status).toBe(200);
  expect(gateCalls()).toBe(1);
  expect(databaseCalls()).toBe(0);
});

test('no verify with a good key reads D1, not even the first one after its gate was evicted', async () => {
  const license = await ada.createLicense();
  // The alarm that a change leaves behind looks into D1; it is not a verify, so it goes first.
  await runDurableObjectAlarm(gate(ada.accountId));
  const queries = watchDatabase();
  for (const licenseKey of [license.license_key, 'NOBODYS-KEY']) {
    expect((await ada.verify(licenseKey)).status).toBe(200);
    await evict(ada.accountId);
    expect((await ada.verify(licenseKey)).status).toBe(200);
  }
  expect(queries()).toBe(0);
});

test('a query would have been seen, whether the Worker makes it or a gate', async () => {
  const queries = watchDatabase();
  expect((await ada.asSession('GET', '/api/account')).status).toBe(200);
  const byWorker = queries();
  expect(byWorker).toBeGreaterThan(0);
  await evict(ada.accountId);
  await runInDurableObject(gate(ada.accountId), (instance: AccountGate) => instance.pull());
  expect(queries()).toBeGreaterThan(byWorker);
});
