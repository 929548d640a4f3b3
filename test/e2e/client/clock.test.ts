import { beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../src/shared/rules/dates.ts';
import {
  type Machine,
  newApplication,
  newMachine,
  newProxy,
  newSeller,
  type Seller,
} from './support/application.ts';
import {
  type Behavior,
  captivePortal,
  cut,
  pass,
  type Proxy,
  respond,
  unavailable,
} from './support/proxy.ts';

// The service and its tokens have the real time. Only the application's clock is moved.

const FAILURES: Record<number, Behavior> = {
  3: respond(429, '', { 'retry-after': '86400' }),
  5: captivePortal,
  13: cut,
};

let seller: Seller;
let licenseKey: string;
beforeAll(async () => {
  seller = await newSeller({ offline_days: 14, entitlements: { export: true } });
  licenseKey = (await seller.sell()).license_key;
});

/** An application that has been activated, with a clock that the test sets. */
const activated = async () => {
  const proxy = await newProxy();
  const machine = newMachine();
  const clock = { days: 0 };
  const now = () => Date.now() + clock.days * DAY_MS;
  const start = (on: Machine = machine, through: Proxy = proxy) =>
    newApplication(seller, through, on, { now });
  const application = start();
  expect(await application.activate(licenseKey)).toMatchObject({ valid: true });
  return { proxy, machine, clock, application, start };
};

describe('with offline_days: 14', () => {
  test('13 days of failures leave the license valid, and the 15th day does not', async () => {
    const { proxy, clock, application, start } = await activated();
    for (let day = 1; day <= 13; day += 1) {
      clock.days = day;
      proxy.behavior = FAILURES[day] ?? unavailable;
      expect(await application.refresh(), `day ${day}`).toMatchObject({ valid: true, code: 'valid' });
      expect(application.has('export')).toBe(true);
    }
    expect(await start().start()).toMatchObject({ valid: true, source: 'stored' });

    clock.days = 15;
    expect(application.state).toMatchObject({ valid: false, code: 'offline_expired' });
    expect(application.has('export')).toBe(false);
    expect(await application.refresh()).toMatchObject({ valid: false, code: 'offline_expired' });
    const restarted = start();
    expect(await restarted.start()).toMatchObject({ valid: false, code: 'offline_expired' });

    // One answer is enough.
    proxy.behavior = pass;
    expect(await restarted.refresh()).toMatchObject({ valid: true, source: 'network' });
  });
});

describe('a clock that is set back', () => {
  test('doesn’t bring back a license that has ended offline', async () => {
    const { proxy, clock, application, start } = await activated();
    proxy.behavior = unavailable;
    clock.days = 15;
    expect((await application.refresh()).code).toBe('offline_expired');
    await application.stop();
    clock.days = 1;
    expect((await start().start()).valid).toBe(false);
  });

  test('is noticed, and one answer of the service clears it', async () => {
    const { proxy, clock, application, start } = await activated();
    await application.stop();
    clock.days = -2;
    proxy.behavior = captivePortal;
    const restarted = start();
    expect(await restarted.start()).toMatchObject({ valid: false, code: 'clock_rolled_back' });
    expect(restarted.has('export')).toBe(false);
    proxy.behavior = pass;
    expect(await restarted.refresh()).toMatchObject({ valid: true, code: 'valid' });
    // The clock is still wrong, but the difference is known now.
    proxy.behavior = cut;
    expect(await start().start()).toMatchObject({ valid: true, source: 'stored' });
  });

  test('is no reason to refuse a machine whose clock was always wrong', async () => {
    const { proxy, machine, clock, start } = await activated();
    for (const days of [-400, 400]) {
      clock.days = days;
      proxy.behavior = pass;
      const fresh = { ...newMachine(), fingerprint: machine.fingerprint };
      expect(await start(fresh).activate(licenseKey)).toMatchObject({ valid: true });
      proxy.behavior = cut;
      expect(await start(fresh).start()).toMatchObject({ valid: true, source: 'stored' });
    }
  });
});
