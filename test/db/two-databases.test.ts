import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { createAccount } from '../../src/sign-in/register.ts';
import { hashPassword } from '../../src/users/passwords.ts';
import { subscribe } from '../billing/sandbox.ts';
import { call, PASSWORD } from '../support/client.ts';
import { publicCtx } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { runHourly } from '../support/hourly.ts';
import { sellerWithLicense } from '../support/worlds.ts';

// In these tests, DATABASES is "DB, DB2@2020-01-01".

// More than a day apart, because ids go on from a later time if the clock is set back by less.
const ACCOUNTS = [
  { createdAt: '2019-12-30T00:00:00.000Z', own: 'DB', other: 'DB2' },
  { createdAt: '2020-01-01T00:00:00.000Z', own: 'DB2', other: 'DB' },
] as const;

const ACCOUNT_TABLES = [
  'api_keys',
  'audit_log',
  'feed',
  'idempotency_keys',
  'license_changes',
  'license_counts',
  'license_totals',
  'licenses',
  'payments',
  'subscriptions',
];

/** Returns the tables with rows of the account. */
const tablesWithRows = async (d1: D1Database, accountId: string) => {
  const tables = ['users', 'sessions', ...ACCOUNT_TABLES];
  const counts = await d1.batch<{ n: number }>([
    d1.prepare('SELECT count(*) AS n FROM accounts WHERE id = ?').bind(accountId),
    ...tables.map((table) =>
      d1.prepare(`SELECT count(*) AS n FROM ${table} WHERE account_id = ?`).bind(accountId),
    ),
  ]);
  return ['accounts', ...tables].filter((_table, i) => (counts[i]?.results[0]?.n ?? 0) > 0);
};

test.for(ACCOUNTS)('an account created at $createdAt keeps everything but its user in $own', async (row) => {
  useFakeClock(row.createdAt);
  const { ada, license } = await sellerWithLicense({ product: 'Orrery' });
  await ada.asKey('POST', '/api/v1/licenses/create', {}, { 'idempotency-key': 'once' });
  await ada.asKey('PATCH', `/api/v1/licenses/${license.id}`, { customer_name: 'Ada' });
  await subscribe(ada);
  await runHourly();

  expect((await ada.verify(license.license_key)).body).toMatchObject({ valid: true, api_limit: 100_000 });
  expect((await ada.asKey('GET', '/api/v1/licenses?q=orrery')).body.data).toMatchObject([{ id: license.id }]);
  const { body: login } = await call('POST', '/api/login', { body: ada });
  const headers = { authorization: `Bearer ${login.session.token}` };
  const dashboard = await call('GET', '/api/dashboard', { headers });
  expect(dashboard.body).toMatchObject({
    account: { id: ada.accountId, email: ada.email, plan: 'pro' },
    licenses: { total: 2 },
    api_keys: { total: 1 },
  });
  const log = await call('GET', '/api/audit-log', { headers });
  expect(log.body.data.map(({ action }: { action: string }) => action)).toEqual([
    'login',
    'plan.change',
    'checkout.start',
    'license.update',
    'license.create',
    'license.create',
    'api_key.create',
    'register',
  ]);
  const ownTables = ['accounts', ...ACCOUNT_TABLES];
  expect(new Set(await tablesWithRows(env[row.own], ada.accountId))).toEqual(
    new Set(row.own === 'DB' ? ['users', 'sessions', ...ownTables] : ownTables),
  );
  expect(await tablesWithRows(env[row.other], ada.accountId)).toEqual(
    row.own === 'DB' ? [] : ['users', 'sessions', 'audit_log'],
  );
});

test.for(ACCOUNTS)('a registration that is cut off in $own leaves the email address free', async (row) => {
  useFakeClock(row.createdAt);
  const body = { email: `cut-off-${row.own.toLowerCase()}@example.com`, password: PASSWORD };
  vi.spyOn(publicCtx.firstDb, 'batch').mockRejectedValueOnce(new Error('D1_ERROR: Network connection lost.'));
  const cutOff = createAccount(publicCtx, {
    email: body.email,
    name: null,
    passwordHash: await hashPassword(PASSWORD),
  });
  await expect(cutOff).rejects.toThrow('Network connection lost');

  expect((await call('POST', '/api/login', { body })).status).toBe(401);
  const registered = await call('POST', '/api/register', { body });
  expect(registered.status).toBe(201);
  const login = await call('POST', '/api/login', { body });
  expect(login.body.account).toEqual(registered.body.account);
  const headers = { authorization: `Bearer ${login.body.session.token}` };
  expect((await call('POST', '/api/create-api-key', { headers, body: {} })).status).toBe(201);
});
