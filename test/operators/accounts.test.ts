import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type Answer,
  call,
  type Customer,
  freshAddress,
  outcomeOf,
  register,
  signUp,
} from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { asOperator, OPERATOR_TOKEN, withOperatorToken } from '../support/operator.ts';

describe('the operator’s token', () => {
  const search = (authorization?: string, address = freshAddress()) =>
    call('GET', '/operator/accounts', {
      headers: { 'cf-connecting-ip': address, ...(authorization && { authorization }) },
    });

  test('without it, the paths answer like unknown paths', async () => {
    expect(outcomeOf(await search(`Bearer ${OPERATOR_TOKEN}`))).toBe('404 not_found');
    expect(outcomeOf(await call('DELETE', '/operator/accounts'))).toBe('404 not_found');
  });

  test('a wrong token is refused, and a caller with ten of them has to wait', async () => {
    const stop = withOperatorToken();
    const address = freshAddress();
    const outcomes: string[] = [];
    for (let i = 0; i < 12; i++) outcomes.push(outcomeOf(await search(`Bearer wrong-${i}`, address)));
    expect(outcomes).toEqual([
      ...Array<string>(10).fill('401 invalid_credentials'),
      ...Array<string>(2).fill('429 rate_limit_exceeded'),
    ]);
    expect(outcomeOf(await search(undefined))).toBe('401 invalid_credentials');
    expect(outcomeOf(await search(`Bearer ${OPERATOR_TOKEN}`))).toBe('200 ok');
    stop();
  });
});

describe('accounts', () => {
  let ada: Customer;
  let stop: () => void;

  beforeEach(async () => {
    useFakeClock();
    stop = withOperatorToken();
    ada = await signUp();
  });
  afterEach(() => stop());

  const post = (path: string, body?: unknown, customer = ada) =>
    asOperator('POST', `/operator/accounts/${customer.accountId}/${path}`, body);
  const entries = async () => {
    const { results } = await accountsD1
      .prepare('SELECT action, actor_kind, details FROM audit_log WHERE account_id = ? ORDER BY id')
      .bind(ada.accountId)
      .all();
    return results.filter(({ actor_kind: kind }) => kind === 'operator');
  };

  test('are found by id and by parts of the email address, newest first, in pages', async () => {
    const marked = [await register(), await register(), await register()];
    await accountsD1
      .prepare(`UPDATE accounts SET name = 'Marked' WHERE id IN (?, ?, ?)`)
      .bind(...marked.map(({ accountId }) => accountId))
      .run();
    const idsOf = ({ body }: Answer) => body.data.map(({ id }: { id: string }) => id);
    const newestFirst = marked.map(({ accountId }) => accountId).toReversed();

    const first = await asOperator('GET', '/operator/accounts?q=marked&limit=2');
    expect(idsOf(first)).toEqual(newestFirst.slice(0, 2));
    const second = await asOperator('GET', `/operator/accounts?q=marked&cursor=${first.body.next_cursor}`);
    expect([idsOf(second), second.body.next_cursor]).toEqual([newestFirst.slice(2), null]);
    expect(idsOf(await asOperator('GET', `/operator/accounts?q=${ada.accountId}`))).toEqual([ada.accountId]);
    const [found] = (await asOperator('GET', `/operator/accounts?q=${ada.email.toUpperCase()}`)).body.data;
    expect(found).toMatchObject({ id: ada.accountId, plan: 'free', suspended_at: null, licenses: 0 });
  });

  test('that don’t exist answer 404', async () => {
    for (const id of ['acct_00000000000000000000', 'nobody'])
      expect(outcomeOf(await asOperator('POST', `/operator/accounts/${id}/suspend`))).toBe('404 not_found');
  });

  test('that are suspended refuse their API keys and let their sessions only read', async () => {
    const license = await ada.createLicense();
    expect((await ada.verify(license.license_key)).body).toMatchObject({ valid: true, api_usage: 1 });

    expect((await post('suspend')).body.suspended_at).toEqual(expect.any(String));
    const suspended = await post('suspend');
    expect(outcomeOf(await ada.verify(license.license_key))).toBe('403 account_suspended');
    expect(outcomeOf(await ada.asKey('GET', '/api/account'))).toBe('403 account_suspended');
    expect(outcomeOf(await ada.asSession('POST', '/api/v1/licenses/create', {}))).toBe(
      '403 account_suspended',
    );
    for (const path of ['/api/v1/licenses', '/api/export', '/api/audit-log'])
      expect(outcomeOf(await ada.asSession('GET', path))).toBe('200 ok');
    const { password } = ada;
    expect(outcomeOf(await ada.asSession('POST', '/api/reauthenticate', { password }))).toBe('200 ok');
    const { body: signedIn } = await call('POST', '/api/login', {
      body: { email: ada.email, password: ada.password },
    });
    const headers = { authorization: `Bearer ${signedIn.session.token}` };
    expect(outcomeOf(await call('POST', '/api/logout', { headers }))).toBe('200 ok');

    expect((await post('reinstate')).body.suspended_at).toBeNull();
    expect((await ada.verify(license.license_key)).body).toMatchObject({ valid: true, api_usage: 2 });
    expect(outcomeOf(await ada.asSession('POST', '/api/v1/licenses/create', {}))).toBe('201 ok');
    expect(suspended.status).toBe(200);
    expect(await entries()).toMatchObject([{ action: 'account.suspend' }, { action: 'account.reinstate' }]);
  });

  test('that are granted a plan have the better one of it and the paid plan until the grant ends', async () => {
    const until = new Date(Date.now() + 86_400_000).toISOString();
    const license = await ada.createLicense();
    const limit = async () => (await ada.verify(license.license_key)).body.api_limit;
    const before = await ada.verify(license.license_key);

    expect((await post('plan', { plan: 'pro', until })).body).toMatchObject({
      plan: 'pro',
      granted_until: until,
    });
    const granted = await ada.verify(license.license_key);
    expect(granted.body).toMatchObject({ api_limit: 100_000, api_usage: before.body.api_usage + 1 });
    await accountsD1.prepare(`UPDATE accounts SET plan = 'scale' WHERE id = ?`).bind(ada.accountId).run();
    await post('plan', { plan: 'pro', until });
    expect(await limit()).toBe(5_000_000);
    await accountsD1.prepare(`UPDATE accounts SET plan = 'free' WHERE id = ?`).bind(ada.accountId).run();
    await post('plan', { plan: 'pro', until });
    expect(await limit()).toBe(100_000);
    vi.setSystemTime(Date.parse(until));
    expect(await limit()).toBe(1_000);

    expect(outcomeOf(await post('plan', { plan: 'free', until: '2100-01-01T00:00:00Z' }))).toBe(
      '400 invalid_request',
    );
    expect((await post('plan', { plan: 'free' })).body).toMatchObject({ plan: 'free', granted_plan: null });
    expect((await entries()).at(-1)).toMatchObject({
      action: 'plan.grant',
      details: '{"plan":"free","until":null}',
    });
  });
});

test('lists the accounts that store the most, with their calls in this period', async () => {
  const stop = withOperatorToken();
  const [small, large] = [await signUp(), await signUp()];
  await large.createLicense({ customer_name: 'L'.repeat(200) });
  const { license_key: licenseKey } = await large.createLicense({ customer_name: 'M'.repeat(200) });
  await large.verify(licenseKey);
  const list = (query: string) => asOperator('GET', `/operator/accounts?${query}`);
  const { body } = await list('sort=-storage&usage=true&limit=20');
  const ids = body.data.map(({ id }: { id: string }) => id);
  expect(ids.indexOf(large.accountId)).toBeLessThan(ids.indexOf(small.accountId));
  const bytes = body.data.map(({ storage }: { storage: { used: number } }) => storage.used);
  expect(bytes).toEqual(bytes.toSorted((a: number, b: number) => b - a));
  expect(body.next_cursor).toBe(null);
  const found = (accountId: string) => body.data.find(({ id }: { id: string }) => id === accountId);
  expect(found(large.accountId).usage).toEqual({ api_usage: expect.any(Number), api_limit: 1_000 });
  expect(found(large.accountId).usage.api_usage).toBeGreaterThan(0);
  expect((await list(`q=${small.email}&sort=-storage&limit=5`)).body.data).toMatchObject([
    { id: small.accountId },
  ]);
  expect((await list('limit=5')).body.data[0]).not.toHaveProperty('usage');
  for (const query of ['usage=true', `sort=-storage&cursor=${small.accountId}`, 'sort=storage'])
    expect(outcomeOf(await list(query))).toBe('400 invalid_request');
  stop();
});
