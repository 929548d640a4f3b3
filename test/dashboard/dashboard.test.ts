import { expect, test, vi } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { type Json, signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { evict } from '../support/gate.ts';
import { sellerWithLicense } from '../support/worlds.ts';

const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);

test('the dashboard of a new account shows no usage for the current month', async () => {
  useFakeClock('2028-02-29T23:59:59.999Z');
  const ada = await signUp();
  const { status, body } = await ada.asSession('GET', '/api/dashboard');
  expect(status).toBe(200);
  expect(body).toEqual({
    account: (await ada.asSession('GET', '/api/account')).body,
    usage: {
      api_usage: 0,
      api_limit: 1_000,
      period_start: '2028-02-01T00:00:00.000Z',
      period_end: '2028-03-01T00:00:00.000Z',
    },
    usage_by_day: Array.from({ length: 30 }, (_, i) => ({
      date: day(Date.parse('2028-01-31T00:00:00.000Z') + i * DAY_MS),
      verify: 0,
      create: 0,
    })),
    licenses: { total: 0, active: 0, expired: 0, suspended: 0, revoked: 0 },
    api_keys: { total: 1 },
    storage: { used: expect.any(Number), limit: 10_000_000 },
    webhooks: { endpoints: 0, delivered_24h: 0, failed_24h: 0 },
    recent_events: [],
  });
  expect(body.usage_by_day.at(-1).date).toBe('2028-02-29');
});

test('the dashboard counts usage per day and month, licenses per status, and API keys', async () => {
  useFakeClock();
  const [ada, bob] = [await signUp(), await signUp()];
  const readDashboard = async (): Promise<Json> => (await ada.asSession('GET', '/api/dashboard')).body;
  const busyDays = ({ usage_by_day: days }: Json) =>
    days.filter(({ verify, create }: Json) => verify + create > 0);

  const create = (fields: object) => ada.asKey('POST', '/api/v1/licenses/create', fields);
  const byKey = (await create({ expires_at: '2027-03-12' })).body;
  const bySession = await ada.createLicense();
  await ada.verify(byKey.license_key);
  await ada.verify(bySession.license_key);
  // Management calls, failed calls, and unknown license keys don't count as usage.
  await ada.verify('NOT-A-LICENSE');
  await ada.asKey('GET', `/api/v1/licenses/${byKey.id}`);
  await create({ expires_at: '2001-01-01' });
  await create({ license_key: byKey.license_key });
  await ada.verify(byKey.license_key, `${ada.apiKey}x`);
  await bob.verify(byKey.license_key);
  expect(await readDashboard()).toMatchObject({
    usage: { api_usage: 3 },
    licenses: { total: 2, active: 2, expired: 0, suspended: 0, revoked: 0 },
  });

  vi.setSystemTime('2027-03-13T00:00:00.000Z');
  await ada.verify(byKey.license_key);
  const [suspended, revoked] = [await ada.createLicense(), await ada.createLicense()];
  await ada.asSession('POST', `/api/v1/licenses/${suspended.id}/suspend`);
  await ada.asSession('POST', `/api/v1/licenses/${revoked.id}/revoke`);
  await ada.prove();
  const { body: second } = await ada.asSession('POST', '/api/create-api-key', {});
  const later = await readDashboard();
  expect(later).toMatchObject({
    usage: { api_usage: 4 },
    licenses: { total: 4, active: 1, expired: 1, suspended: 1, revoked: 1 },
    api_keys: { total: 2 },
  });
  expect(busyDays(later)).toEqual([
    { date: '2027-03-10', verify: 2, create: 1 },
    { date: '2027-03-13', verify: 1, create: 0 },
  ]);

  await ada.asSession('POST', `/api/v1/licenses/${byKey.id}/renew`, { duration_days: 30 });
  await ada.asSession('POST', `/api/v1/licenses/${suspended.id}/reinstate`);
  await ada.asSession('DELETE', `/api/api-keys/${second.id}`);
  expect(await readDashboard()).toMatchObject({
    licenses: { total: 4, active: 3, expired: 0, suspended: 0, revoked: 1 },
    api_keys: { total: 1 },
  });

  // The chart covers 30 days: it includes March 10 on April 8, but not on April 9.
  vi.setSystemTime('2027-04-08T23:00:00.000Z');
  await ada.verify(byKey.license_key);
  const nextMonth = await readDashboard();
  expect(nextMonth.usage).toEqual({
    api_usage: 1,
    api_limit: 1_000,
    period_start: '2027-04-01T00:00:00.000Z',
    period_end: '2027-05-01T00:00:00.000Z',
  });
  expect(busyDays(nextMonth).map(({ date }: Json) => date)).toEqual([
    '2027-03-10',
    '2027-03-13',
    '2027-04-08',
  ]);
  vi.setSystemTime('2027-04-09T00:00:00.000Z');
  expect(busyDays(await readDashboard()).map(({ date }: Json) => date)).toEqual(['2027-03-13', '2027-04-08']);

  const { body: otherDashboard } = await bob.asKey('GET', '/api/dashboard');
  expect([otherDashboard.licenses.total, busyDays(otherDashboard)]).toEqual([0, []]);
  expect(otherDashboard.account.email).toBe(bob.email);
});

test('the dashboard of an account with products counts their calls in this period', async () => {
  useFakeClock();
  const ada = await signUp();
  const byProduct = async () => (await ada.asSession('GET', '/api/dashboard')).body.usage_by_product;
  const put = (code: string, sent: Json) => ada.asKey('PUT', `/api/v1/products/${code}`, sent);
  const call = async (path: string, product: string) => {
    const { license_key } = await ada.createLicense({ product });
    await ada.asKey('POST', `/api/v1/licenses/${path}`, { license_key, fingerprint: 'machine-0001' });
  };
  await call('verify', 'planetarium');
  const { license_key: labeled } = await ada.createLicense({ product: 'no product' });
  expect(await byProduct()).toBeUndefined();

  await put('orrery', { name: 'Orrery', terms: { max_activations: 1 } });
  await put('planetarium', {});
  await put('sundial', {});
  for (const path of ['activate', 'verify', 'heartbeat', 'deactivate']) await call(path, 'orrery');
  await ada.verify((await ada.createLicense({ product: 'planetarium' })).license_key);
  await ada.verify(labeled);
  const counted = [
    { product: 'orrery', name: 'Orrery', calls: 2 },
    { product: 'planetarium', name: null, calls: 1 },
    { product: 'sundial', name: null, calls: 0 },
  ];
  expect(await byProduct()).toEqual(counted);
  await evict(ada.accountId);
  await ada.asKey('DELETE', '/api/v1/products/sundial');
  expect(await byProduct()).toEqual(counted.slice(0, 2));

  vi.setSystemTime('2027-04-01T00:00:00.000Z');
  await call('activate', 'orrery');
  expect((await byProduct())[0]).toMatchObject({ product: 'orrery', calls: 1 });
});

test('a license whose last day changes often has one row in the license counts', async () => {
  const { ada, id } = await sellerWithLicense();
  const read = accountsD1.prepare(
    'SELECT status, expires_at, licenses FROM license_counts WHERE account_id = ?',
  );
  const rows = async () => (await read.bind(ada.accountId).all()).results;
  for (const expires_at of ['2098-01-01', '2098-01-02', '2098-01-02', '2098-01-03']) {
    await ada.asSession('PATCH', `/api/v1/licenses/${id}`, { expires_at });
    expect(await rows()).toEqual([{ status: 'active', expires_at, licenses: 1 }]);
  }
  await ada.asSession('POST', `/api/v1/licenses/${id}/suspend`);
  await ada.createLicense();
  expect(await rows()).toEqual([
    { status: 'active', expires_at: '', licenses: 1 },
    { status: 'suspended', expires_at: '', licenses: 1 },
  ]);
});

test('the busiest products are shown, whatever their codes, and deleted ones are not', async () => {
  const ada = await signUp();
  const codes = Array.from({ length: 12 }, (_, i) => `product-${String(i).padStart(2, '0')}`);
  for (const code of codes) await ada.asKey('PUT', `/api/v1/products/${code}`, {});
  const verify = async (product: string, calls: number) => {
    const { id, license_key } = await ada.createLicense({ product });
    for (let i = 0; i < calls; i++) await ada.verify(license_key);
    return id;
  };
  await verify('product-11', 2);
  await verify('product-05', 1);
  const deleted = await verify('product-10', 3);
  await ada.asKey('DELETE', `/api/v1/licenses/${deleted}`);
  expect((await ada.asKey('DELETE', '/api/v1/products/product-10')).status).toBe(200);
  const { usage_by_product: shown } = (await ada.asSession('GET', '/api/dashboard')).body;
  const others = codes.filter((code) => !['product-05', 'product-10', 'product-11'].includes(code));
  expect(shown.map(({ product, calls }: Json) => [product, calls])).toEqual([
    ['product-11', 2],
    ['product-05', 1],
    ...others.slice(0, 8).map((code) => [code, 0]),
  ]);
});
