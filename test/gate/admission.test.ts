import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { mintApiKey, parseApiKey } from '../../src/api-keys/api-key.ts';
import { apiKeys } from '../../src/db/schema.ts';
import { commit } from '../../src/gate/worker/commit.ts';
import { newId } from '../../src/shared/text/ids.ts';
import { call, type Customer, outcomeOf, signUp } from '../support/client.ts';
import { ctxOf } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate, setPlan } from '../support/gate.ts';

let ada: Customer;

beforeEach(async () => {
  useFakeClock();
  ada = await signUp();
});

afterEach(() => {
  vi.restoreAllMocks();
});

const verify = async (apiKey: string) => outcomeOf(await ada.verify('UNKNOWN-KEY', apiKey));
const getAccount = (apiKey: string) => call('GET', '/api/account', { headers: { 'x-api-key': apiKey } });

/** Calls `times` times, one call after another, and returns the number of each outcome. */
const tally = async (times: number, make: () => Promise<string>) => {
  const outcomes: Record<string, number> = {};
  for (let i = 0; i < times; i++) {
    const result = await make();
    outcomes[result] = (outcomes[result] ?? 0) + 1;
  }
  return outcomes;
};

const createKey = async (fields: Record<string, unknown>) => {
  const { body } = await ada.asSession('POST', '/api/create-api-key', fields);
  return body as { id: string; api_key: string };
};

const countGateCalls = () => {
  const namespace = Object.getPrototypeOf(env.GATE) as Env['GATE'];
  const spy = vi.spyOn(namespace, 'getByName');
  return () => spy.mock.calls.length;
};

/** A key that was never stored, with a good tag. */
const unknownKey = () => {
  const id = newId('key');
  return { id, ...mintApiKey([env.API_KEY_SECRET], ada.accountId, id) };
};

test('a call that is refused for its scope spends the rate limit', async () => {
  const { api_key } = await createKey({ scope: 'verify' });
  const first = await getAccount(api_key);
  expect(outcomeOf(first)).toBe('403 insufficient_scope');
  expect(first.headers.get('ratelimit')).toBe('"key";r=19;t=1');
  expect(await tally(29, async () => outcomeOf(await getAccount(api_key)))).toEqual({
    '403 insufficient_scope': 19,
    '429 rate_limit_exceeded': 10,
  });
  expect(await verify(api_key)).toBe('429 rate_limit_exceeded');
});

describe('a key over its rate limit', () => {
  test('is refused without a call to the gate until it may call again', async () => {
    expect(await tally(21, () => verify(ada.apiKey))).toEqual({ '200 ok': 20, '429 rate_limit_exceeded': 1 });
    const gateCalls = countGateCalls();
    vi.advanceTimersByTime(99);
    const refused = await ada.verify('UNKNOWN-KEY');
    expect(outcomeOf(refused)).toBe('429 rate_limit_exceeded');
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      'retry-after': '1',
      'ratelimit-policy': '"key";q=20;w=2',
      ratelimit: '"key";r=0;t=2',
    });
    expect(outcomeOf(await getAccount(ada.apiKey))).toBe('429 rate_limit_exceeded');
    expect(gateCalls()).toBe(0);
    vi.advanceTimersByTime(1);
    expect(await tally(2, () => verify(ada.apiKey))).toEqual({ '200 ok': 1, '429 rate_limit_exceeded': 1 });
    expect(gateCalls()).toBe(2);
  });

  test('has the rate of a new plan once its last refusal is over, in every isolate', async () => {
    await tally(21, () => verify(ada.apiKey));
    await setPlan(ada.accountId, 'pro');
    const key = parseApiKey([env.API_KEY_SECRET], ada.apiKey);
    if (!key) throw new Error('The key has no good tag.');
    vi.advanceTimersByTime(99);
    expect(await gate(ada.accountId).admit({ ...key, ip: null }, 'verify')).toMatchObject({
      refused: 'rate_limit_exceeded',
    });
    expect(await verify(ada.apiKey)).toBe('429 rate_limit_exceeded');
    vi.advanceTimersByTime(1);
    expect(await tally(11, () => verify(ada.apiKey))).toEqual({ '200 ok': 10, '429 rate_limit_exceeded': 1 });
  });

  test('is not locked out when the clock is set back', async () => {
    await tally(21, () => verify(ada.apiKey));
    vi.setSystemTime(Date.now() - 86_400_000);
    expect(await verify(ada.apiKey)).toBe('200 ok');
  });
});

describe('all keys of an account together', () => {
  const createKeys = async (count: number) => {
    const keys: string[] = [];
    for (let i = 0; i < count; i++) keys.push((await createKey({})).api_key);
    return keys;
  };

  test('get a burst of 50 calls and 25 calls per second on the free plan', async () => {
    const [first = '', second = '', third = '', fourth = ''] = await createKeys(4);
    expect(await tally(20, () => verify(first))).toEqual({ '200 ok': 20 });
    const calm = await ada.verify('UNKNOWN-KEY', second);
    expect(calm.headers.get('ratelimit')).toBe('"key";r=19;t=1');
    expect(await tally(19, () => verify(second))).toEqual({ '200 ok': 19 });
    const tight = await ada.verify('UNKNOWN-KEY', third);
    expect(Object.fromEntries(tight.headers)).toMatchObject({
      'ratelimit-policy': '"account";q=50;w=2',
      ratelimit: '"account";r=9;t=2',
    });
    expect(await tally(20, () => verify(third))).toEqual({ '200 ok': 9, '429 rate_limit_exceeded': 11 });
    const refused = await ada.verify('UNKNOWN-KEY', fourth);
    expect(outcomeOf(refused)).toBe('429 rate_limit_exceeded');
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      'retry-after': '1',
      ratelimit: '"account";r=0;t=2',
    });
    vi.advanceTimersByTime(40);
    expect(await tally(2, () => verify(fourth))).toEqual({ '200 ok': 1, '429 rate_limit_exceeded': 1 });
  });

  test('are not slowed down by the refused calls of one key or by invalid keys', async () => {
    const [noisy = '', calm = ''] = await createKeys(2);
    expect(await tally(100, () => verify(noisy))).toMatchObject({ '200 ok': 20 });
    await tally(50, () => verify(unknownKey().apiKey));
    expect(await tally(20, () => verify(calm))).toEqual({ '200 ok': 20 });
  });
});

describe('an invalid key', () => {
  const ONE_MORE = { '403 api_key_invalid': 1, '429 rate_limit_exceeded': 1 };

  test('that was deleted is refused without calling the gate again', async () => {
    const { id, api_key } = await createKey({});
    expect(await verify(api_key)).toBe('200 ok');
    await ada.asSession('DELETE', `/api/api-keys/${id}`);
    expect(await verify(api_key)).toBe('403 api_key_invalid');
    const gateCalls = countGateCalls();
    expect(await tally(50, () => verify(api_key))).toEqual({
      '403 api_key_invalid': 19,
      '429 rate_limit_exceeded': 31,
    });
    vi.advanceTimersByTime(100);
    expect(await tally(2, () => verify(api_key))).toEqual(ONE_MORE);
    expect(gateCalls()).toBe(0);
    expect(await verify(ada.apiKey)).toBe('200 ok');
  });

  test('that expired a minute ago is refused without calling the gate again', async () => {
    const { api_key } = await createKey({ expires_at: new Date(Date.now() + 60_000).toISOString() });
    expect(await verify(api_key)).toBe('200 ok');
    vi.advanceTimersByTime(60_000);
    const gateCalls = countGateCalls();
    expect(await tally(2, () => verify(api_key))).toEqual({ '403 api_key_invalid': 2 });
    expect(gateCalls()).toBe(2);
    vi.advanceTimersByTime(60_000);
    expect(await verify(api_key)).toBe('403 api_key_invalid');
    expect(gateCalls()).toBe(3);
    expect(await tally(19, () => verify(api_key))).toEqual({ '403 api_key_invalid': 19 });
    const refused = await ada.verify('UNKNOWN-KEY', api_key);
    expect(outcomeOf(refused)).toBe('429 rate_limit_exceeded');
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      'retry-after': '1',
      ratelimit: '"key";r=0;t=2',
    });
    expect(gateCalls()).toBe(3);
  });

  test('has the rate of the plan free, whatever the account’s plan', async () => {
    await setPlan(ada.accountId, 'scale');
    const { id, api_key } = await createKey({});
    await ada.asSession('DELETE', `/api/api-keys/${id}`);
    for (const apiKey of [api_key, unknownKey().apiKey])
      expect(await tally(30, () => verify(apiKey))).toEqual({
        '403 api_key_invalid': 20,
        '429 rate_limit_exceeded': 10,
      });
  });

  test('has a rate limit at the gate, which does not slow down valid keys', async () => {
    const { id, api_key } = await createKey({});
    await ada.asSession('DELETE', `/api/api-keys/${id}`);
    for (const apiKey of [api_key, unknownKey().apiKey]) {
      const key = parseApiKey([env.API_KEY_SECRET], apiKey);
      if (!key) throw new Error('The key has no good tag.');
      const admit = async () =>
        (await gate(ada.accountId).admit({ ...key, ip: null }, 'full')).refused ?? 'admitted';
      expect(await tally(30, admit)).toEqual({ api_key_invalid: 20, rate_limit_exceeded: 10 });
      vi.advanceTimersByTime(100);
      expect(await tally(2, admit)).toEqual({ api_key_invalid: 1, rate_limit_exceeded: 1 });
    }
    expect(await tally(20, () => verify(ada.apiKey))).toEqual({ '200 ok': 20 });
  });

  test('that is unknown gets 429 over its rate limit, and most of these calls don’t reach the gate', async () => {
    const { apiKey } = unknownKey();
    const gateCalls = countGateCalls();
    expect(await tally(50, () => verify(apiKey))).toEqual({
      '403 api_key_invalid': 20,
      '429 rate_limit_exceeded': 30,
    });
    expect(gateCalls()).toBe(21);
  });

  test('that is unknown is accepted as soon as it exists', async () => {
    const { id, apiKey, fingerprint } = unknownKey();
    expect(await verify(apiKey)).toBe('403 api_key_invalid');
    const ctx = ctxOf(ada.accountId);
    const row = {
      id,
      accountId: ada.accountId,
      name: null,
      scope: 'full' as const,
      fingerprint,
      sealed: '',
      secretId: '',
      maskedKey: '',
      createdAt: Date.now(),
    };
    await commit(ctx, [ctx.db.insert(apiKeys).values(row)], [{ kind: 'key', ref: id }]);
    expect(await verify(apiKey)).toBe('200 ok');
  });
});
