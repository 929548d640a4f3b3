import { describe, expect, test, vi } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../../src/shared/rules/dates.ts';
import { status } from '../support/fake-service.ts';
import { turns, until } from '../support/fake-time.ts';
import { setUp } from '../support/setup.ts';
import { setUpStarted } from '../support/started.ts';

const MINUTE_MS = 60_000;

describe('a refresh', () => {
  test.for([
    [0, 0.8],
    [0.5, 1],
    [1, 1.2],
  ] as const)('runs every 24 h ± 20 %%: %j', async ([random, days]) => {
    const world = await setUp();
    world.time.random = random;
    await world.activate();
    const license = world.create();
    await license.start();
    await world.time.drive(license.refresh());
    world.service.requests.length = 0;
    world.time.pass(days * DAY_MS - 1);
    await license.stop();
    expect(world.service.requests).toEqual([]);

    await license.start();
    await world.time.drive(license.refresh());
    world.service.requests.length = 0;
    world.time.pass(days * DAY_MS);
    await until(() => world.service.requests.length > 0);
    expect(world.service.paths()).toEqual(['verify']);
    await license.stop();
  });

  test('that failed is repeated within the hour, and no sooner than Retry-After says', async () => {
    const { time, service, license } = await setUpStarted(null);
    service.handlers.push(status(429, { 'retry-after': '7200' }));
    await time.drive(license.refresh());
    time.pass(2 * HOUR_MS - 1_000);
    expect(service.requests).toHaveLength(1);
    service.handlers.push(status(404));
    time.pass(MINUTE_MS);
    await until(() => service.requests.length === 2);
    await turns();
    time.pass(HOUR_MS - 1_000);
    expect(service.requests).toHaveLength(2);
    time.pass(MINUTE_MS);
    await until(() => service.requests.length === 3);
    await license.stop();
  });

  test.for([
    [0, null],
    [0.999, null],
    [0.5, 30 * DAY_MS],
  ] as const)(
    'keeps a token of one day from ending, also where a heartbeat would come later: %j',
    async ([random, leaseMs]) => {
      const { time, service, license } = await setUpStarted(leaseMs);
      time.random = random;
      service.terms.statement = { offline_days: 1 };
      await time.drive(license.refresh());
      service.requests.length = 0;
      const codes: string[] = [];
      license.onChange(({ code }) => codes.push(code));
      for (let hour = 0; hour < 5 * 24; hour += 1) {
        time.pass(HOUR_MS);
        await turns();
      }
      expect(codes).toEqual([]);
      const { length } = service.requests;
      expect(length).toBeGreaterThanOrEqual(5);
      expect(length).toBeLessThanOrEqual(10);
      await license.stop();
    },
  );

  test('of a program that starts with a young token of one day comes before its end', async () => {
    for (const random of [0, 0.5, 0.999]) {
      const { time, service, create, activate } = await setUp();
      service.terms.statement = { offline_days: 1 };
      await activate();
      time.random = random;
      time.nowMs += 13 * HOUR_MS;
      const license = create();
      const codes: string[] = [];
      expect(await license.start()).toMatchObject({ valid: true, source: 'stored' });
      license.onChange(({ code }) => codes.push(code));
      time.pass(10 * HOUR_MS);
      await until(() => license.state.source === 'network');
      await license.stop();
      expect([codes, service.paths()]).toEqual([['valid'], ['verify']]);
    }
  });

  test('runs when the token ends', async () => {
    const { time, service, license } = await setUpStarted(null);
    service.terms.statement = { offline_days: 1 };
    await time.drive(license.refresh());
    service.requests.length = 0;
    service.always = status(404);
    const codes: string[] = [];
    license.onChange(({ code }) => codes.push(code));
    for (let hour = 0; hour < 24; hour += 1) {
      time.pass(HOUR_MS);
      await time.drive(license.stop().then(() => license.start()));
    }
    expect(codes).toEqual(['offline_expired']);
    service.always = null;
    service.requests.length = 0;
    time.pass(10 * MINUTE_MS);
    await until(() => license.state.valid);
    await license.stop();
  });
});

describe('while the license is not valid, a refresh', () => {
  test('is repeated after 2, 5, 15, 30 and 60 seconds, and then in minutes', async () => {
    const { time, service, license } = await setUpStarted(HOUR_MS);
    const downAt: number[] = [];
    service.always = ({ signal }) => {
      if (!signal.aborted) downAt.push(time.nowMs);
      throw new TypeError('fetch failed');
    };
    time.sleep(2 * HOUR_MS);
    const waits: number[] = [];
    for (let count = 0; count < 7; count += 1) {
      const before = downAt.length;
      await time.drive(until(() => downAt.length >= before + (count === 0 ? 1 : 0)));
      await until(() => !time.isBusy());
      await time.drive(license.refresh());
      const failedMs = time.nowMs;
      const [next] = time.scheduled();
      waits.push(Math.round(((next?.dueMs ?? 0) - failedMs) / 1_000));
      time.pass(1);
    }
    expect(waits).toEqual([2, 5, 15, 30, 60, 60, 60]);
    await license.stop();
  });

  test('finds the Wi-Fi that comes back five seconds after the machine wakes', async () => {
    const { time, service, license } = await setUpStarted(HOUR_MS);
    const wokenMs = time.nowMs + 2 * HOUR_MS;
    service.always = (request) => {
      if (time.nowMs < wokenMs + 5_000) throw new TypeError('fetch failed');
      return service.answer(request);
    };
    time.sleep(2 * HOUR_MS);
    expect(license.state.valid).toBe(false);
    for (let second = 0; second < 30 && !license.state.valid; second += 1) {
      await time.drive(turns(20));
      await until(() => !time.isBusy());
      time.pass(1_000);
    }
    expect(license.state.valid).toBe(true);
    expect(time.nowMs - wokenMs).toBeLessThan(15_000);
    await license.stop();
  });

  test('is sent at once when the machine goes online', async () => {
    const network = new EventTarget();
    vi.stubGlobal('addEventListener', network.addEventListener.bind(network));
    vi.stubGlobal('removeEventListener', network.removeEventListener.bind(network));
    const { time, service, license } = await setUpStarted(null);
    network.dispatchEvent(new Event('online'));
    await turns();
    expect(service.requests).toEqual([]);
    service.always = status(404);
    await time.drive(license.refresh());
    service.always = null;
    network.dispatchEvent(new Event('online'));
    await until(() => service.requests.length === 2);
    await time.drive(license.stop());
    network.dispatchEvent(new Event('online'));
    await turns();
    expect(service.requests).toHaveLength(2);
    vi.unstubAllGlobals();
  });
});
