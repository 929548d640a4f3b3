import { describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../../src/shared/rules/dates.ts';
import { hang, LICENSE_KEY, status } from '../support/fake-service.ts';
import { turns, until } from '../support/fake-time.ts';
import { setUp } from '../support/setup.ts';
import { setUpStarted } from '../support/started.ts';

const OTHER_KEY = 'OTHER-LICENSE';
const storedIn = ({ text }: { text: string | null }) => JSON.parse(text ?? '{}') as Record<string, unknown>;

describe('activate()', () => {
  test('stores the license key and what the license is', async () => {
    const { service, store, activate } = await setUp();
    service.terms.statement = { expires_at: '2026-12-31', updates_until: '2026-11-30' };
    const { license, state } = await activate({ appVersion: '1.2.3', releaseDate: '2026-11-01' });
    expect(state).toEqual({
      valid: true,
      code: 'valid',
      status: 'active',
      source: 'network',
      entitlements: { export: true, seats: 5, tier: '' },
      expiresAt: new Date('2026-12-31T23:59:59.999Z'),
      updatesUntil: new Date('2026-11-30T23:59:59.999Z'),
      seats: { used: 1, limit: 3 },
      activation: {
        id: 'act_0VJ1mKq7XbT2c9LpQwZa',
        name: 'Laptop',
        platform: 'linux',
        activatedAt: new Date('2026-11-01T12:00:00.000Z'),
        leaseUntil: null,
      },
      machines: null,
      offlineUntil: new Date('2026-12-06T12:00:00.000Z'),
      checkedAt: new Date('2026-11-22T12:00:00.000Z'),
      graceUntil: null,
      problem: null,
      machine: 'given',
    });
    expect(storedIn(store)).toMatchObject({ licenseKey: LICENSE_KEY });
    expect(license.has('export')).toBe(true);
    expect([license.has('tier'), license.has('other'), license.has('toString')]).toEqual([
      false,
      false,
      false,
    ]);
    expect([license.entitlement('seats'), license.entitlement('toString')]).toEqual([5, undefined]);
  });

  test('sends what the application said about itself', async () => {
    const { time, service, create } = await setUp();
    const license = create({
      appVersion: '1.2.3',
      releaseDate: '2026-11-01',
      baseUrl: 'https://latchkey.test/api/v1/',
    });
    await time.drive(license.activate(` ${LICENSE_KEY}\n`, { name: 'Laptop' }));
    expect(service.requests[0]?.input).toEqual({
      license_key: LICENSE_KEY,
      fingerprint: 'machine-0123456789',
      product: 'orrery',
      app_version: '1.2.3',
      release_date: '2026-11-01',
      name: 'Laptop',
      nonce: expect.stringMatching(/^[\w-]{36}$/) as string,
    });
    await license.stop();
  });

  test.for(['not_found', 'no_seat', 'suspended'] as const)(
    'with a license key that is refused does not destroy a good one: %s',
    async (code) => {
      const { time, service, store, create, activate } = await setUp();
      await activate();
      const license = create();
      await license.start();
      await time.drive(license.refresh());
      const changes: string[] = [];
      license.onChange((state) => changes.push(state.code));
      service.refuse(code, 'active');
      expect(await time.drive(license.activate(OTHER_KEY))).toMatchObject({ valid: false, code });
      expect(license.state).toMatchObject({ valid: true });
      service.always = status(500);
      expect(await time.drive(license.activate(OTHER_KEY))).toMatchObject({
        valid: false,
        code: 'inconclusive',
      });
      expect(license.state).toMatchObject({ valid: true });
      expect(changes).toEqual([]);
      expect(storedIn(store)).toMatchObject({ licenseKey: LICENSE_KEY, token: expect.any(String) as string });
      service.always = null;
      service.terms.statement = {};
      expect(await time.drive(license.activate(OTHER_KEY))).toMatchObject({ valid: true });
      expect(storedIn(store)).toMatchObject({ licenseKey: OTHER_KEY });
      await license.stop();
    },
  );

  test.for([
    ['not_found', null],
    ['wrong_product', null],
    ['no_seat', OTHER_KEY],
    ['suspended', OTHER_KEY],
  ] as const)(
    'without a good license stores the license key unless it is wrong: %s',
    async ([code, licenseKey]) => {
      const { time, service, store, create } = await setUp();
      service.refuse(code, 'active');
      const license = create();
      expect(await time.drive(license.activate(OTHER_KEY))).toMatchObject({ valid: false, code });
      expect(license.state.code).toBe(code);
      await license.stop();
      expect(storedIn(store)['licenseKey'] ?? null).toBe(licenseKey);
    },
  );

  test.for(['no_seat', 'suspended'] as const)(
    'with a license key that is refused keeps the one whose token has only ended: %s',
    async (code) => {
      const { time, service, store, create } = await setUp();
      service.terms.statement = { offline_days: 0 };
      const before = create();
      await time.drive(before.activate(LICENSE_KEY));
      await time.drive(before.stop());
      service.always = (request) => {
        if (request.input['license_key'] === LICENSE_KEY) return service.answer(request);
        service.refuse(code, 'active');
        const answer = service.answer(request);
        service.terms.statement = { offline_days: 0 };
        return answer;
      };
      // A token without offline time ends at once, so the next start has no verdict before it has verified.
      service.handlers.push(hang(time));
      const license = create();
      const started = license.start();
      await until(() => service.requests.length === 2);
      expect(await time.drive(license.activate(OTHER_KEY))).toMatchObject({ valid: false, code });
      await time.drive(started);
      expect(await time.drive(license.refresh())).toMatchObject({ valid: true });
      await license.stop();
      expect(storedIn(store)).toMatchObject({ licenseKey: LICENSE_KEY });
    },
  );

  test('in another spelling is the same license', async () => {
    const { time, service, store, create, activate } = await setUp();
    await activate();
    const license = create();
    await license.start();
    service.terms.statement = { valid: false, code: 'revoked', license_key: LICENSE_KEY };
    expect(await time.drive(license.activate(LICENSE_KEY.toLowerCase()))).toMatchObject({ code: 'revoked' });
    expect(license.state.code).toBe('revoked');
    expect(storedIn(store)).toMatchObject({ token: null });
    await license.stop();
  });
});

test.for(['', ' \n'])('a blank license key does not end the refresh in progress: %j', async (blank) => {
  const { time, service, license } = await setUpStarted(null);
  service.always = hang(time);
  const refreshed = license.refresh();
  await until(() => service.requests.length === 1);
  expect(await license.activate(blank)).toMatchObject({ valid: false, code: 'key_missing' });
  await turns();
  expect(service.requests[0]?.signal.aborted).toBe(false);
  service.always = status(404);
  await time.drive(refreshed);
  service.requests.length = 0;
  time.pass(2 * HOUR_MS);
  await until(() => service.requests.length > 0);
  expect(service.paths()).toEqual(['verify']);
  await time.drive(license.stop());
});

describe('deactivate()', () => {
  test('frees the seat and forgets the token, and activate() takes a seat again', async () => {
    const { time, service, store, create, activate } = await setUp();
    await activate();
    const license = create();
    await license.start();
    expect(await time.drive(license.deactivate())).toMatchObject({ valid: false, code: 'deactivated' });
    expect(storedIn(store)).toMatchObject({ token: null, file: null });
    await license.stop();

    service.requests.length = 0;
    const next = create();
    expect(await next.start()).toMatchObject({ valid: false, code: 'deactivated' });
    expect(await next.refresh()).toMatchObject({ code: 'deactivated' });
    expect(service.requests).toEqual([]);
    expect(await time.drive(next.activate())).toMatchObject({ valid: true });
    expect(service.requests[0]).toMatchObject({ path: 'activate', input: { license_key: LICENSE_KEY } });
    await next.stop();
  });

  test('that fails changes nothing', async () => {
    const { time, service, create, activate } = await setUp();
    await activate();
    service.always = status(500);
    const license = create();
    await license.start();
    expect(await time.drive(license.deactivate())).toMatchObject({ valid: true, source: 'stored' });
    await license.stop();
  });
});
