import { expect, test } from 'vitest';
import { HOUR_MS } from '../../../src/shared/rules/dates.ts';
import { status } from '../support/fake-service.ts';
import { turns, until } from '../support/fake-time.ts';
import { setUp, START_MS } from '../support/setup.ts';

const MINUTE_MS = 60_000;
/** The test begins at noon. */
const MIDNIGHT_MS = START_MS + 12 * HOUR_MS;

const setUpLastDay = async (random: number, statement: object = {}) => {
  const world = await setUp();
  world.service.terms.statement = { expires_at: '2026-11-22', ...statement };
  await world.activate();
  world.time.random = random;
  const license = world.create();
  await license.start();
  await world.time.drive(license.refresh());
  world.service.requests.length = 0;
  return { ...world, license };
};

test('a license that is renewed on its last day is good at midnight, and its application asks at a time of its own', async () => {
  const askedMs: number[] = [];
  for (const random of [0, 0.5, 0.999]) {
    const { time, service, license } = await setUpLastDay(random);
    const codes: string[] = [];
    license.onChange(({ code }) => codes.push(code));
    service.terms.statement = { expires_at: '2026-12-22' };
    time.pass(11 * HOUR_MS + 29 * MINUTE_MS);
    expect(service.requests).toEqual([]);
    for (let minute = 0; minute < 30 && service.requests.length === 0; minute += 1) {
      time.pass(MINUTE_MS);
      await turns();
    }
    askedMs.push(MIDNIGHT_MS - time.nowMs);
    await until(() => license.state.expiresAt?.getUTCMonth() === 11);
    time.pass(MIDNIGHT_MS - time.nowMs + HOUR_MS);
    expect(license.state).toMatchObject({ valid: true });
    // The new last day is a change, the midnight isn't.
    expect(codes).toEqual(['valid']);
    expect(service.paths()).toEqual(['verify']);
    await license.stop();
  }
  expect(new Set(askedMs).size).toBe(3);
});

test('a license that ends at midnight is asked about once before and once after', async () => {
  const { time, service, store, license } = await setUpLastDay(0.5);
  const { writes } = store;
  time.pass(MIDNIGHT_MS - MINUTE_MS - time.nowMs);
  await until(() => store.writes > writes);
  await turns();
  service.refuse('expired');
  time.pass(MINUTE_MS);
  await until(() => {
    time.pass(1_000);
    return license.state.code === 'expired';
  });
  expect(service.paths()).toEqual(['verify', 'verify']);
  await license.stop();
});

test('a program that starts shortly before its license ends verifies, however young its token', async () => {
  const { time, service, license, create } = await setUpLastDay(0.5);
  await license.stop();
  for (const [leftMs, calls] of [
    [31 * MINUTE_MS, 0],
    [29 * MINUTE_MS, 1],
  ] as const) {
    service.requests.length = 0;
    time.nowMs = MIDNIGHT_MS - leftMs;
    const next = create();
    expect(await next.start()).toMatchObject({ valid: true });
    await time.drive(next.stop());
    expect(service.requests).toHaveLength(calls);
  }
});

test('in the days of grace the license stays good without a network, and the state says until when', async () => {
  const { time, service, license, create } = await setUpLastDay(0.5, { grace_until: '2026-11-25' });
  const graceUntil = new Date('2026-11-25T23:59:59.999Z');
  expect(license.state).toMatchObject({ valid: true, graceUntil });
  await license.stop();
  service.always = status(404);
  for (const [hours, valid] of [
    [13, true],
    [12 + 71, true],
    [12 + 72, false],
  ] as const) {
    time.nowMs = START_MS + hours * HOUR_MS;
    const next = create();
    expect(await time.drive(next.start())).toMatchObject({ valid, graceUntil });
    await time.drive(next.stop());
  }
});

test('with offline_days 0, the days of grace count while the application runs', async () => {
  const { time, service, license } = await setUpLastDay(0.5, { grace_until: '2026-11-25', offline_days: 0 });
  service.always = status(404);
  time.nowMs = MIDNIGHT_MS + HOUR_MS;
  expect(license.state).toMatchObject({ valid: true });
  await license.stop();
});
