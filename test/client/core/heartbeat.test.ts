import { describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../../src/shared/rules/dates.ts';
import { status } from '../support/fake-service.ts';
import { turns, until } from '../support/fake-time.ts';
import { setUpStarted } from '../support/started.ts';

const MINUTE_MS = 60_000;

const tokenIn = ({ text }: { text: string | null }) => (JSON.parse(text ?? '') as { token: string }).token;

describe('a heartbeat', () => {
  test.for([
    [0, 0.9],
    [0.5, 1],
    [1, 1.1],
  ] as const)('is sent every third of the lease ± 10 %%: %j', async ([random, part]) => {
    const { time, service, store, license } = await setUpStarted(HOUR_MS);
    time.random = random;
    await time.drive(license.refresh());
    service.requests.length = 0;
    for (const count of [1, 2, 3]) {
      const token = tokenIn(store);
      time.pass(part * 20 * MINUTE_MS - 1_000);
      expect(service.requests).toHaveLength(count - 1);
      time.pass(1_000);
      await until(() => service.requests.length === count && tokenIn(store) !== token);
      await turns();
    }
    expect(service.paths()).toEqual(['heartbeat', 'heartbeat', 'heartbeat']);
    await license.stop();
  });

  test('is sent at waking from sleep', async () => {
    const { time, calls, license } = await setUpStarted(HOUR_MS);
    time.pass(MINUTE_MS);
    time.sleep(10 * MINUTE_MS);
    await calls('heartbeat');
    expect(license.state.valid).toBe(true);
    await license.stop();
  });

  test.for([
    ['off', HOUR_MS],
    ['auto', null],
  ] as const)('is not sent with heartbeat %s and a lease of %s ms', async ([heartbeat, leaseMs]) => {
    const { time, service, license } = await setUpStarted(leaseMs, { heartbeat });
    time.pass(MINUTE_MS);
    time.sleep(HOUR_MS / 2);
    await license.stop();
    expect(service.requests).toEqual([]);
  });

  test('that fails never throws, and the seat is lost only at lease_until', async () => {
    const { time, service, license } = await setUpStarted(HOUR_MS);
    const endMs = license.state.activation?.leaseUntil?.getTime() ?? 0;
    service.always = () => {
      throw new TypeError('fetch failed');
    };
    while (time.nowMs < endMs - MINUTE_MS) {
      time.pass(MINUTE_MS);
      expect(license.state).toMatchObject({ valid: true, code: 'valid' });
      await time.drive(turns());
    }
    expect(service.paths().length).toBeGreaterThanOrEqual(6);
    expect(new Set(service.paths())).toEqual(new Set(['heartbeat']));
    time.nowMs = endMs - 1;
    expect(license.state.valid).toBe(true);
    time.nowMs = endMs;
    expect(license.state).toMatchObject({ valid: false, code: 'offline_expired' });
    service.always = null;
    expect(await time.drive(license.refresh())).toMatchObject({ valid: true });
    await license.stop();
  });

  test.for([0, 0.5, 1])(
    'that fails at waking is repeated before the lease ends, so that no other machine gets the seat: %j',
    async (random) => {
      const { time, service, license } = await setUpStarted(HOUR_MS);
      time.random = random;
      const codes: string[] = [];
      license.onChange(({ code }) => codes.push(code));
      // Wi-Fi comes seconds after a machine wakes.
      service.always = status(500);
      time.sleep(50 * MINUTE_MS);
      await time.drive(until(() => service.requests.length === 3));
      await turns();
      service.always = null;
      time.pass(4 * MINUTE_MS);
      await until(() => service.requests.length > 3);
      await turns();
      expect(service.paths().slice(3)).toEqual(['heartbeat']);
      time.pass(10 * MINUTE_MS);
      expect(codes).toEqual([]);
      await license.stop();
    },
  );

  test('that says verify_due makes the client verify, and is no "no"', async () => {
    const { time, service, calls, license } = await setUpStarted(HOUR_MS);
    const codes: string[] = [];
    license.onChange(({ code }) => codes.push(code));
    service.handlers.push(() => Response.json({ valid: false, code: 'verify_due', token: null }));
    time.pass(20 * MINUTE_MS);
    await calls('heartbeat', 'verify');
    expect(codes).toEqual([]);
    await license.stop();
  });

  test('of a machine whose lease has lapsed makes the client verify, which takes the seat back', async () => {
    const { time, service, calls, license } = await setUpStarted(HOUR_MS);
    service.handlers.push((request) => {
      service.refuse('not_activated', 'active');
      const answer = service.answer(request);
      service.terms.statement = {};
      return answer;
    });
    time.sleep(HOUR_MS / 2);
    await calls('heartbeat', 'verify');
    expect(license.state).toMatchObject({ valid: true });
    await license.stop();
  });

  test('of a machine whose lease has lapsed makes the client verify in minutes if that verify fails', async () => {
    const { time, service, license } = await setUpStarted(HOUR_MS);
    service.always = (request) => {
      if (request.path === 'verify') return status(500)();
      service.refuse('not_activated', 'active');
      const answer = service.answer(request);
      service.terms.statement = {};
      return answer;
    };
    time.sleep(HOUR_MS / 2);
    await time.drive(until(() => !license.state.valid));
    expect(license.state.code).toBe('not_activated');
    service.always = null;
    await turns();
    time.pass(5 * MINUTE_MS);
    await time.drive(turns());
    expect(license.state).toMatchObject({ valid: true });
    await license.stop();
  });

  test.for([0, 0.5, 1])(
    'is still sent while each verify fails, so that the seat is kept: %j',
    async (random) => {
      const { time, service, license } = await setUpStarted(HOUR_MS);
      time.random = random;
      const codes: string[] = [];
      license.onChange(({ code }) => codes.push(code));
      service.always = (request) => (request.path === 'verify' ? status(500)() : service.answer(request));
      await time.drive(license.refresh());
      for (let minute = 0; minute < 180; minute += 1) {
        time.pass(MINUTE_MS);
        await time.drive(turns());
      }
      expect(codes).toEqual([]);
      expect(service.paths()).toContain('heartbeat');
      await time.drive(license.stop());
    },
  );

  test('that says no takes effect at once', async () => {
    const { time, service, license } = await setUpStarted(HOUR_MS);
    service.refuse('suspended');
    time.pass(20 * MINUTE_MS);
    await until(() => !license.state.valid);
    expect(license.state.code).toBe('suspended');
    await license.stop();
  });
});
