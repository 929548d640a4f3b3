import { describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../src/shared/rules/dates.ts';
import { LICENSE_KEY, status } from '../support/fake-service.ts';
import { setUp, START_MS } from '../support/setup.ts';

const MINUTE_MS = 60_000;

type SetUp = Awaited<ReturnType<typeof setUp>>;

/** Starts the application anew, without a network. */
const startOffline = async ({ time, service, create }: SetUp) => {
  service.always = status(404);
  const license = create();
  const state = await time.drive(license.start());
  await license.stop();
  return state;
};

test('after 13 days of failures the license is valid, and on day 15 it is not', async () => {
  const world = await setUp();
  await world.activate();
  world.service.always = status(404);
  const license = world.create();
  for (let day = 1; day <= 15; day += 1) {
    world.time.nowMs = START_MS + day * DAY_MS;
    const valid = day < 14;
    expect(await world.time.drive(license.refresh())).toMatchObject({
      valid,
      code: valid ? 'valid' : 'offline_expired',
    });
    expect(license.has('export')).toBe(valid);
    expect(await startOffline(world)).toMatchObject({ valid, source: 'stored' });
  }
  world.service.always = null;
  expect(await world.time.drive(license.refresh())).toMatchObject({ valid: true });
  await license.stop();
});

describe('a clock', () => {
  test('that is set back by more than 5 minutes rejects the stored token, until one online success', async () => {
    const world = await setUp();
    await world.activate();
    world.time.nowMs = START_MS + 2 * DAY_MS;
    expect(await startOffline(world)).toMatchObject({ valid: true });
    world.time.nowMs -= 5 * MINUTE_MS;
    expect(await startOffline(world)).toMatchObject({ valid: true });
    world.time.nowMs -= 1;
    expect(await startOffline(world)).toMatchObject({ valid: false, code: 'clock_rolled_back' });
    world.service.always = null;
    const license = world.create();
    expect(await world.time.drive(license.start())).toMatchObject({ valid: true, source: 'network' });
    await license.stop();
    expect(await startOffline(world)).toMatchObject({ valid: true, source: 'stored' });
  });

  test('has a high-water mark that only rises', async () => {
    const world = await setUp();
    await world.activate();
    const marks: number[] = [];
    for (const days of [1, 3, 2, 0, 4]) {
      world.time.nowMs = START_MS + days * DAY_MS;
      await startOffline(world);
      marks.push((JSON.parse(world.store.text ?? '') as { markMs: number }).markMs);
    }
    expect(marks.map((mark) => (mark - START_MS) / DAY_MS)).toEqual([1, 3, 3, 3, 4]);
  });

  test('that was in 2036 once and was put right locks nobody out', async () => {
    const world = await setUp();
    await world.activate();
    world.time.nowMs = START_MS + 3_650 * DAY_MS;
    expect(await startOffline(world)).toMatchObject({ code: 'offline_expired' });
    world.time.nowMs = START_MS + DAY_MS;
    expect(await startOffline(world)).toMatchObject({ valid: true });
  });

  test('that ran ahead within an offline file is forgiven by a file that is issued later', async () => {
    const world = await setUp();
    const issue = () => world.service.sign({ kind: 'offline', offline_days: 366 });
    const license = world.create();
    await license.loadFile(await issue());
    world.time.nowMs = START_MS + 200 * DAY_MS;
    expect(license.state).toMatchObject({ valid: true });
    await license.stop();
    world.time.nowMs = START_MS + DAY_MS;
    expect(await startOffline(world)).toMatchObject({ code: 'clock_rolled_back' });
    const first = await issue();
    expect(await license.loadFile(first)).toMatchObject({ valid: true });
    await license.stop();
    expect(await startOffline(world)).toMatchObject({ valid: true });
    world.time.nowMs = START_MS + 10 * DAY_MS;
    expect(license.state).toMatchObject({ valid: true });
    world.time.nowMs = START_MS + DAY_MS;
    expect(await license.loadFile(first)).toMatchObject({ code: 'clock_rolled_back' });
    await license.stop();
  });

  test.for([2 / 24, -20])(
    'that was %d days ahead at the verify, and is put right, locks nobody out for 14 days',
    async (aheadDays) => {
      const world = await setUp();
      world.service.aheadMs = -aheadDays * DAY_MS;
      await world.activate();
      const signedMs = world.service.timeNow();
      for (const hours of [0, 1, 24, 13 * 24]) {
        world.time.nowMs = signedMs + hours * 60 * MINUTE_MS;
        expect(await startOffline(world)).toMatchObject({ valid: true, source: 'stored' });
      }
      world.time.nowMs = signedMs + 5 * DAY_MS;
      expect(await startOffline(world)).toMatchObject({ valid: false });
      world.time.nowMs = signedMs + 15 * DAY_MS;
      expect(await startOffline(world)).toMatchObject({ valid: false });
    },
  );

  test.for([-400 * DAY_MS, 400 * DAY_MS])(
    'that is wrong by %i ms is corrected by the difference that the last token showed',
    async (aheadMs) => {
      const world = await setUp();
      world.service.aheadMs = aheadMs;
      expect((await world.activate()).state).toMatchObject({
        valid: true,
        checkedAt: new Date(START_MS + aheadMs),
      });
      world.time.nowMs = START_MS + 13 * DAY_MS;
      expect(await startOffline(world)).toMatchObject({ valid: true, source: 'stored' });
      world.time.nowMs = START_MS + 14 * DAY_MS;
      expect(await startOffline(world)).toMatchObject({ valid: false, code: 'offline_expired' });
    },
  );
});

test('with offline_days 0, a verdict is good while the application runs, and not after', async () => {
  const world = await setUp();
  world.service.terms.statement = { offline_days: 0 };
  const license = world.create();
  await license.start();
  expect(await world.time.drive(license.activate(LICENSE_KEY))).toMatchObject({ valid: true });
  world.time.nowMs += 29 * 60 * MINUTE_MS;
  expect(license.state.valid).toBe(true);
  world.time.nowMs += 60 * MINUTE_MS;
  expect(license.state).toMatchObject({ valid: false, code: 'offline_expired' });
  await license.stop();
  world.time.nowMs = START_MS;
  expect(await startOffline(world)).toMatchObject({ valid: false });
});
