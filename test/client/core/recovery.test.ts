import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/client/core/types.ts';
import { DAY_MS, HOUR_MS } from '../../../src/shared/rules/dates.ts';
import { hang, LICENSE_KEY, status } from '../support/fake-service.ts';
import { turns, until } from '../support/fake-time.ts';
import { setUp } from '../support/setup.ts';

const MINUTE_MS = 60_000;
const OTHER_KEY = 'OTHER-LICENSE';

const storedIn = ({ text }: { text: string | null }) => JSON.parse(text ?? 'null') as Record<string, unknown>;

/** A license that has started and verified. */
const setUpStarted = async (leaseMs: number | null = null) => {
  const world = await setUp();
  world.service.terms.leaseMs = leaseMs;
  await world.activate();
  const license = world.create();
  await license.start();
  await world.time.drive(license.refresh());
  world.service.requests.length = 0;
  return { ...world, license };
};

describe('heartbeats', () => {
  test('go on while a verify is refused with Retry-After', async () => {
    const { time, service, license } = await setUpStarted(HOUR_MS);
    service.handlers.push(status(429, { 'retry-after': '1728000' }));
    await time.drive(license.refresh());
    time.pass(21 * MINUTE_MS);
    await until(() => service.requests.length === 2);
    expect(service.paths()).toEqual(['verify', 'heartbeat']);
    await license.stop();
  });

  test('go on after a license key that was refused in the middle of one', async () => {
    const { time, service, license } = await setUpStarted(HOUR_MS);
    service.handlers.push(hang(time));
    time.pass(21 * MINUTE_MS);
    await until(() => service.requests.length === 1);
    service.refuse('not_found');
    expect(await time.drive(license.activate(OTHER_KEY))).toMatchObject({ code: 'not_found' });
    service.terms.statement = {};
    time.pass(21 * MINUTE_MS);
    await until(() => service.paths().slice(2).includes('heartbeat'));
    await license.stop();
  });
});

describe('refreshes', () => {
  test('go on after a license key that was refused in the middle of one', async () => {
    const { time, service, license } = await setUpStarted();
    service.handlers.push(hang(time));
    time.pass(25 * HOUR_MS);
    await until(() => service.requests.length === 1);
    service.refuse('not_found');
    await time.drive(license.activate(OTHER_KEY));
    service.terms.statement = {};
    time.pass(2 * HOUR_MS);
    await until(() => service.requests.length === 3);
    expect(service.paths()).toEqual(['verify', 'activate', 'verify']);
    await license.stop();
  });

  test.for(['1728000', '9'.repeat(40)])('wait at most a day for Retry-After: %s s', async (seconds) => {
    const { time, service, license } = await setUpStarted();
    service.handlers.push(status(429, { 'retry-after': seconds }));
    await time.drive(license.refresh());
    time.pass(DAY_MS + MINUTE_MS);
    await until(() => service.requests.length === 2);
    expect(service.paths()).toEqual(['verify', 'verify']);
    await license.stop();
  });

  test('go on if start() is called before stop() has ended', async () => {
    const { time, service, create, activate } = await setUp();
    await activate();
    time.nowMs += DAY_MS;
    service.handlers.push(hang(time));
    const license = create();
    void license.start();
    await until(() => service.requests.length === 1);
    const stopped = time.drive(license.stop());
    expect(await license.start()).toMatchObject({ valid: true });
    await stopped;
    await until(() => license.state.source === 'network');
    await turns();
    time.pass(25 * HOUR_MS);
    await until(() => service.requests.length === 3);
    await license.stop();
  });
});

describe('a store', () => {
  test('that can’t be read once is not overwritten', async () => {
    const { store, create, activate } = await setUp();
    await activate();
    const before = storedIn(store);
    let failures = 1;
    const flaky: Store = {
      set: store.set,
      get: async () => {
        if (failures-- > 0) throw new Error('EMFILE');
        return store.get();
      },
    };
    const license = create({ store: flaky });
    expect(await license.start()).toMatchObject({ code: 'key_missing' });
    expect(storedIn(store)).toEqual(before);
    expect(await license.start()).toMatchObject({ valid: true });
    await license.stop();
  });
});

test('with offline_days 0, two processes on one store both stay valid', async () => {
  const { time, service, create } = await setUp();
  service.terms.statement = { offline_days: 0 };
  const [first, second] = [create(), create()];
  await time.drive(first.activate(LICENSE_KEY));
  await time.drive(second.start());
  expect(second.state).toMatchObject({ valid: true, source: 'network' });
  time.nowMs += MINUTE_MS;
  await time.drive(first.refresh());
  await time.drive(second.stop());
  expect(second.state).toMatchObject({ valid: true });
  service.refuse('revoked');
  time.nowMs += MINUTE_MS;
  await time.drive(first.refresh());
  await second.stop();
  expect(second.state.valid).toBe(false);
  await first.stop();
});
