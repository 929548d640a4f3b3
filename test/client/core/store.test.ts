import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import type { LicenseOptions } from '../../../src/client/core/types.ts';
import { createLicense } from '../../../src/client/index.ts';
import { LICENSE_KEY, pinnedKeys, status } from '../support/fake-service.ts';
import { setUp } from '../support/setup.ts';

const storedIn = ({ text }: { text: string | null }) => JSON.parse(text ?? 'null') as Record<string, unknown>;

describe('two processes on one store', () => {
  test('do not lose the newer token', async () => {
    const { time, service, store, create, activate } = await setUp();
    await activate();
    const [first, second] = [create(), create()];
    service.always = status(404);
    await Promise.all([first.start(), second.start()]);
    // The calls that `start()` has begun end before there are answers.
    await time.drive(Promise.all([first.refresh(), second.refresh()]));
    service.always = null;
    time.nowMs += 60_000;
    await time.drive(first.refresh());
    const { token } = storedIn(store);
    service.always = status(404);
    await time.drive(second.refresh());
    await Promise.all([first.stop(), second.stop()]);
    expect(storedIn(store)['token']).toBe(token);
    expect(second.state).toMatchObject({ valid: true, checkedAt: new Date(time.nowMs) });
  });

  test('take turns, so that neither writes over what the other has written meanwhile', async () => {
    const { time, store, create, activate } = await setUp();
    await activate();
    const [first, second] = [create(), create()];
    await Promise.all([first.start(), second.start()]);
    await time.drive(Promise.all([first.refresh(), second.refresh()]));
    time.nowMs += 2 * 3_600_000;
    let refreshed: Promise<unknown> = Promise.resolve();
    vi.spyOn(store, 'set').mockImplementationOnce(async (text) => {
      // Before the second process writes what it has read, the first one gets an answer.
      refreshed = time.drive(first.refresh());
      await Promise.race([refreshed, delay(200)]);
      await store.set(text);
    });
    await second.stop();
    await refreshed;
    expect(storedIn(store)['answeredAt']).toBe(time.nowMs / 1_000);
    await first.stop();
  });

  test('do not bring back a token that a signed no has removed', async () => {
    const { time, service, store, create, activate } = await setUp();
    await activate();
    const [first, second] = [create(), create()];
    service.always = status(404);
    await Promise.all([first.start(), second.start()]);
    // The calls that `start()` has begun end before there are answers.
    await time.drive(Promise.all([first.refresh(), second.refresh()]));
    service.always = null;
    time.nowMs += 60_000;
    service.refuse('revoked');
    await time.drive(first.refresh());
    service.always = status(404);
    expect(await time.drive(second.refresh())).toMatchObject({ valid: false });
    await Promise.all([first.stop(), second.stop()]);
    expect(storedIn(store)['token']).toBeNull();
  });

  test('go on with the license key that one of them activated', async () => {
    const { time, service, store, create, activate } = await setUp();
    await activate();
    const [first, second] = [create(), create()];
    await Promise.all([first.start(), second.start()]);
    await time.drive(Promise.all([first.refresh(), second.refresh()]));
    await time.drive(first.activate('OTHER-LICENSE'));
    await time.drive(second.refresh());
    expect(service.requests.at(-1)?.input['license_key']).toBe('OTHER-LICENSE');
    await Promise.all([first.stop(), second.stop()]);
    expect(storedIn(store)['licenseKey']).toBe('OTHER-LICENSE');
  });

  test('go on with a seat that one of them took right after it had given it back', async () => {
    const { store, create, activate } = await setUp();
    await activate();
    const [first, second] = [create(), create()];
    await first.start();
    await first.deactivate();
    expect(await second.start()).toMatchObject({ code: 'deactivated' });
    expect(await first.activate(LICENSE_KEY)).toMatchObject({ valid: true });
    await second.stop();
    const { isReleased, token } = storedIn(store);
    expect(isReleased).toBe(false);
    // A verify within the same second is no call from before.
    expect(await first.refresh()).toMatchObject({ valid: true });
    expect(storedIn(store)['token']).not.toBe(token);
    await first.stop();
  });
});

test('the license key never stands in a log, an error, or the state', async () => {
  const { time, service, create, activate } = await setUp();
  const logs = (['log', 'info', 'warn', 'error', 'debug'] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation(() => {}),
  );
  const { license } = await activate();
  const texts: unknown[] = [license, license.state];
  service.always = () => {
    throw new Error(`POST {"license_key":"${LICENSE_KEY}"} failed`);
  };
  texts.push(await time.drive(license.refresh()), await time.drive(license.activate(LICENSE_KEY)));
  const attempts = [
    () => license.activate(LICENSE_KEY, { replace: 5 as never }),
    () => license.loadFile(5 as never),
    () => create({ fingerprint: LICENSE_KEY, appVersion: LICENSE_KEY.repeat(9) }),
  ];
  for (const attempt of attempts) {
    const error = await (async () => attempt())().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TypeError);
    texts.push(error);
  }
  texts.push(logs.map(({ mock }) => mock.calls));
  expect(inspect(texts, { depth: 9, showHidden: true })).not.toContain(LICENSE_KEY);
  vi.restoreAllMocks();
});

describe('onChange()', () => {
  test('is called only when something has changed, with a new frozen state', async () => {
    const { time, service, create, activate } = await setUp();
    await activate();
    const license = create();
    await license.start();
    await time.drive(license.refresh());
    const states: unknown[] = [];
    const end = license.onChange((state) => states.push(state));
    const before = license.state;
    time.nowMs += 60_000;
    await time.drive(license.refresh());
    expect(states).toEqual([]);
    expect(license.state).not.toBe(before);
    service.terms.statement = { entitlements: { export: false } };
    await time.drive(license.refresh());
    expect(states).toEqual([license.state]);
    expect(license.has('export')).toBe(false);
    expect(Object.isFrozen(license.state) && Object.isFrozen(license.state.entitlements)).toBe(true);
    end();
    service.refuse('revoked');
    await time.drive(license.refresh());
    expect(states).toHaveLength(1);
    await license.stop();
  });

  test('survives a listener that throws', async () => {
    const { time, create } = await setUp();
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
    const license = create();
    const codes: string[] = [];
    license.onChange(() => {
      throw new Error('in the application');
    });
    license.onChange(({ code }) => codes.push(code));
    await license.start();
    expect(await time.drive(license.activate(LICENSE_KEY))).toMatchObject({ valid: true });
    expect(codes.at(-1)).toBe('valid');
    expect(logged).toHaveBeenCalled();
    logged.mockRestore();
    await license.stop();
  });
});

describe('createLicense()', () => {
  const WRONG: Partial<Record<keyof LicenseOptions, unknown>>[] = [
    { baseUrl: 'latchkey.test' },
    { baseUrl: undefined },
    { baseUrl: 'ftp://latchkey.test' },
    { apiKey: '' },
    { apiKey: 'a b' },
    { keys: undefined },
    { keys: { account: 'acct_1', keys: [] } },
    { product: '' },
    { appVersion: '' },
    { appVersion: 'x'.repeat(61) },
    { releaseDate: '22.11.2026' },
    { releaseDate: '2026-13-45' },
    { store: 5 },
    { store: { get: async () => null } },
    { store: { get: async () => null, set: async () => {}, lock: true } },
    { fetch: 5 },
    { now: 5 },
    { fingerprint: 'short' },
    { fingerprint: 'not visible' },
    { heartbeat: 'on' },
  ];
  test.for(WRONG)('throws a TypeError that names the option: %j', async (changes) => {
    const options = { baseUrl: 'https://latchkey.test', apiKey: 'lk', keys: await pinnedKeys(), ...changes };
    const [name = ''] = Object.keys(changes);
    expect(() => createLicense(options as LicenseOptions)).toThrow(TypeError);
    expect(() => createLicense(options as LicenseOptions)).toThrow(name);
  });

  test('works without a store, a fingerprint, or a product', async () => {
    const { time, service, create } = await setUp();
    const license = create({ store: undefined, fingerprint: undefined, product: undefined });
    await license.start();
    expect(await time.drive(license.activate(LICENSE_KEY))).toMatchObject({ valid: true });
    expect(service.requests[0]?.input['fingerprint']).toBeUndefined();
    await license.stop();
  });
});
