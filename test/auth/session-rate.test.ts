import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AccountGate } from '../../src/gate/home/account-gate.ts';
import { type Customer, outcomeOf, signUp, tallyOf } from '../support/client.ts';
import { recordStatements } from '../support/d1-queries.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { evict, gate } from '../support/gate.ts';
import { addSession, withToken } from '../support/sign-in.ts';

const BURST = 250;

let ada: Customer;

beforeEach(async () => {
  useFakeClock();
  ada = await signUp();
  // Signing up has spent a call.
  vi.advanceTimersByTime(1_000);
});

afterEach(() => {
  vi.restoreAllMocks();
});

const REFUSED = '429 rate_limit_exceeded';

/** Spends calls of the account's sessions without the requests. */
const spend = async (calls: number) => {
  const admissions = await Promise.all(
    Array.from({ length: calls }, () => gate(ada.accountId).admitSession()),
  );
  expect(new Set(admissions.map(({ refused }) => refused))).toEqual(new Set([null]));
};

const patchInParallel = (times: number, tokens: string[]) =>
  Promise.all(
    Array.from({ length: times }, (_, i) =>
      withToken(tokens[i % tokens.length] ?? '', 'PATCH', '/api/account', { name: `Ada ${i}` }),
    ),
  );

describe('the sessions of an account', () => {
  test('may together make 250 changes at once and 50 per second', async () => {
    const tokens = [ada.token, await addSession(ada.accountId), await addSession(ada.accountId)];
    await spend(200);
    expect(tallyOf(await patchInParallel(70, tokens))).toEqual({ '200 ok': 50, [REFUSED]: 20 });
    vi.advanceTimersByTime(1_000);
    expect(tallyOf(await patchInParallel(60, tokens))).toEqual({ '200 ok': 50, [REFUSED]: 10 });
  });

  test('over their rate limit are told when to retry, and can retry then', async () => {
    await spend(BURST);
    const refused = await ada.asSession('POST', '/api/create-api-key', {});
    expect(outcomeOf(refused)).toBe(REFUSED);
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      'retry-after': '1',
      'ratelimit-policy': '"session";q=250;w=5',
      ratelimit: '"session";r=0;t=5',
    });
    vi.advanceTimersByTime(1_000);
    const allowed = await ada.asSession('POST', '/api/create-api-key', {});
    expect([outcomeOf(allowed), allowed.headers.get('ratelimit')]).toEqual(['201 ok', '"session";r=49;t=5']);
  });

  test('over their rate limit cost neither a D1 query nor a call to the gate until then', async () => {
    await spend(BURST);
    await ada.asSession('GET', '/api/account');
    const admitSession = vi.spyOn(AccountGate.prototype, 'admitSession');
    vi.advanceTimersByTime(999);
    const { result, statements } = await recordStatements(() => patchInParallel(100, [ada.token]));
    expect([tallyOf(result), statements]).toEqual([{ [REFUSED]: 100 }, []]);
    expect(admitSession).not.toHaveBeenCalled();
  });

  test('over their rate limit can’t prove again who they are, whatever they send', async () => {
    await spend(BURST);
    expect(outcomeOf(await ada.asSession('GET', '/api/account'))).toBe(REFUSED);
    const proofs = [{ password: ada.password }, { code: '1' }, {}];
    const { result, statements } = await recordStatements(() =>
      Promise.all(proofs.map((proof) => ada.asSession('POST', '/api/reauthenticate', proof))),
    );
    expect([tallyOf(result), statements]).toEqual([{ [REFUSED]: 3 }, []]);
  });

  test('don’t spend the rate limit of API keys, nor the other way around', async () => {
    await spend(BURST);
    expect(outcomeOf(await ada.asSession('GET', '/api/account'))).toBe(REFUSED);
    const calls = Array.from({ length: 21 }, () => ada.verify('UNKNOWN-KEY'));
    expect(tallyOf(await Promise.all(calls))).toEqual({ '200 ok': 20, [REFUSED]: 1 });

    vi.advanceTimersByTime(1_000);
    await Promise.all(Array.from({ length: 10 }, () => ada.verify('UNKNOWN-KEY')));
    expect(outcomeOf(await ada.verify('UNKNOWN-KEY'))).toBe(REFUSED);
    expect(outcomeOf(await ada.asSession('GET', '/api/account'))).toBe('200 ok');
  });

  test('can sign out over their rate limit, but only once', async () => {
    const token = await addSession(ada.accountId);
    await spend(BURST);
    expect(outcomeOf(await withToken(token))).toBe(REFUSED);
    expect((await withToken(token, 'POST', '/api/logout')).body).toEqual({ logged_out: true });
    vi.advanceTimersByTime(1_000);
    expect(outcomeOf(await withToken(token, 'POST', '/api/logout'))).toBe('401 invalid_session');
  });

  test('get 503 while the gate can’t be reached, and can sign out', async () => {
    vi.spyOn(AccountGate.prototype, 'admitSession').mockImplementation(() => {
      throw Object.assign(new Error('The gate restarts.'), { durableObjectReset: true });
    });
    expect(outcomeOf(await ada.asSession('GET', '/api/account'))).toBe('503 unavailable');
    expect(outcomeOf(await ada.asSession('POST', '/api/logout'))).toBe('200 ok');
  });

  test('may call at the full rate after a restart of the gate', async () => {
    await spend(BURST);
    expect((await gate(ada.accountId).admitSession()).refused).toBe('rate_limit_exceeded');
    await evict(ada.accountId);
    expect((await gate(ada.accountId).admitSession()).refused).toBeNull();
  });
});

test('the rate limit of sessions is not that of another account', async () => {
  const grace = await signUp();
  await spend(BURST);
  expect(outcomeOf(await ada.asSession('GET', '/api/account'))).toBe(REFUSED);
  expect(outcomeOf(await grace.asSession('GET', '/api/account'))).toBe('200 ok');
});

test('an ended session is refused again without a query', async () => {
  const token = await addSession(ada.accountId);
  await withToken(token, 'POST', '/api/logout');
  expect(outcomeOf(await withToken(token))).toBe('401 invalid_session');
  const { result, statements } = await recordStatements(async () => [
    outcomeOf(await withToken(token)),
    outcomeOf(await withToken(token, 'POST', '/api/logout')),
  ]);
  expect([result, statements]).toEqual([['401 invalid_session', '401 invalid_session'], []]);
});
