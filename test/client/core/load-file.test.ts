import { describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../src/shared/rules/dates.ts';
import { LICENSE_KEY, status } from '../support/fake-service.ts';
import { setUp } from '../support/setup.ts';

const OTHER_KEY = 'OTHER-LICENSE';
const storedIn = ({ text }: { text: string | null }) => JSON.parse(text ?? '{}') as Record<string, unknown>;

describe('loadFile()', () => {
  const FILE = { kind: 'offline', nonce: null, offline_days: 180 } as const;

  test('makes a license valid without a network and without a license key, also after a restart', async () => {
    const { time, service, create } = await setUp();
    const license = create();
    await license.start();
    const file = await service.sign(FILE);
    expect(await license.loadFile(`${file}\n`)).toMatchObject({ valid: true, source: 'stored' });
    await license.stop();
    time.nowMs += 179 * 86_400_000;
    const next = create();
    expect(await next.start()).toMatchObject({ valid: true, source: 'stored' });
    time.nowMs += 86_400_000;
    expect(next.state).toMatchObject({ valid: false, code: 'offline_expired' });
    expect(service.requests).toEqual([]);
    await next.stop();
  });

  test.for([
    ['an online token', { kind: 'online' }, 'file_invalid'],
    ['a file for another machine', { fingerprint: 'machine-9876543210' }, 'not_activated'],
    ['a file for another product', { product: 'other' }, 'wrong_product'],
    ['a file that says no', { valid: false, code: 'suspended' }, 'suspended'],
    ['a file that has ended', { offline_days: -1 }, 'offline_expired'],
  ] as const)('refuses %s', async ([, changes, code]) => {
    const { service, store, create } = await setUp();
    store.text = JSON.stringify({ licenseKey: LICENSE_KEY });
    const license = create();
    expect(await license.loadFile(await service.sign({ ...FILE, ...changes }))).toMatchObject({
      valid: false,
      code,
    });
    expect(license.state.valid).toBe(false);
    expect(storedIn(store)['file'] ?? null).toBeNull();
  });

  test('refuses a file of another account, and text that is no file', async () => {
    const { service, create, activate } = await setUp();
    await activate();
    const license = create();
    service.terms.account = 'acct_0VJ1mKq7XbT2c9LpQwZb';
    for (const text of [await service.sign(FILE), '', 'hello'])
      expect(await license.loadFile(text)).toMatchObject({ valid: false, code: 'file_invalid' });
    expect(license.state).toMatchObject({ valid: true });
  });

  test('of the bought license replaces the trial that has ended, also after deactivate()', async () => {
    const { time, service, create } = await setUp();
    const license = create();
    const trial = await service.sign({ ...FILE, offline_days: 1 });
    expect(await license.loadFile(trial)).toMatchObject({ valid: true });
    time.nowMs += 2 * DAY_MS;
    expect(license.state).toMatchObject({ valid: false });
    const bought = await service.sign({ ...FILE, license_key: OTHER_KEY });
    expect(await license.loadFile(bought)).toMatchObject({ valid: true });
    await time.drive(license.deactivate());
    const third = await service.sign({ ...FILE, license_key: 'THIRD-LICENSE' });
    expect(await license.loadFile(third)).toMatchObject({ valid: true });
    const next = create();
    await time.drive(next.start());
    expect(next.state).toMatchObject({ valid: true, source: 'stored' });
    await next.stop();
  });

  test('of another license replaces a valid one only if it is told to', async () => {
    const { service, store, activate } = await setUp();
    const { license } = await activate();
    const other = await service.sign({ ...FILE, license_key: OTHER_KEY, entitlements: { pro: true } });
    const before = license.state;
    expect(await license.loadFile(other)).toEqual({
      ...before,
      problem: { kind: 'config', message: expect.stringContaining('replace: true') as string },
    });
    expect(license.state).toEqual(before);
    const wrapped = other.replace(/.{60}/g, '$&\r\n');
    expect(await license.loadFile(wrapped, { replace: true })).toMatchObject({ valid: true });
    expect(license.has('pro')).toBe(true);
    expect(storedIn(store)).toMatchObject({ licenseKey: null, token: null });
    expect(await license.forget()).toMatchObject({ valid: false, code: 'key_missing' });
    expect(storedIn(store)).toMatchObject({ licenseKey: null, token: null, file: null });
  });

  test('is the only way to take an offline token', async () => {
    const { time, service, store, create, activate } = await setUp();
    await activate();
    store.text = JSON.stringify({ ...storedIn(store), token: await service.sign(FILE) });
    service.always = status(500);
    const license = create();
    expect(await time.drive(license.start())).toMatchObject({ valid: false, code: 'inconclusive' });
    await license.stop();
  });

  test('outlives the verdicts of a network, but not a signed no', async () => {
    const { time, service, store, create, activate } = await setUp();
    await activate();
    const license = create();
    await license.loadFile(await service.sign(FILE));
    expect(await time.drive(license.refresh())).toMatchObject({ valid: true, source: 'network' });
    time.nowMs += 20 * 86_400_000;
    expect(license.state).toMatchObject({ valid: true, source: 'stored' });
    service.refuse('revoked');
    expect(await time.drive(license.refresh())).toMatchObject({ valid: false, code: 'revoked' });
    expect(storedIn(store)).toMatchObject({ token: null, file: null });
  });
});
