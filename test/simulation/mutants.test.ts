import { beforeAll, describe, expect, test } from 'vitest';
import { load, type Start } from './machine/load.ts';
import { CHANGES } from './mutants/changes.ts';
import { COUNTS } from './mutants/counts.ts';
import { LEASES } from './mutants/leases.ts';
import { LIMITS } from './mutants/limits.ts';
import { crash, inOrder, pass, verify } from './mutants/mutant.ts';
import { RATES } from './mutants/rates.ts';
import { SEATS } from './mutants/seats.ts';
import { Broken } from './promises/broken.ts';
import { runSchedule } from './run.ts';
import type { Schedule } from './schedule.ts';
import { SCALE } from './simulation.ts';

// Rules of the shipped code are broken, one at a time, in its text as it is loaded. Each has a schedule that breaks a promise
// then, and otherwise keeps all of them.

/** The seed decides how long messages take, and which calls the platform repeats. */
const SEEDS = 10;

let sound: Start;

beforeAll(async () => {
  sound = await load(SCALE);
});

/** Expects that a schedule breaks a promise with a mutant, and none without it. */
const expectNoticed = async (mutant: Start, schedule: Omit<Schedule, 'seed'>, options = {}) => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    await runSchedule(sound, { ...schedule, seed });
    const error: unknown = await runSchedule(mutant, { ...schedule, seed }, options).then(
      () => null,
      (reason: unknown) => reason,
    );
    if (error === null) continue;
    expect(error).toBeInstanceOf(Broken);
    return;
  }
  expect.fail('The simulation does not notice it.');
};

describe('the simulation notices that', () => {
  test.for(Object.entries({ ...LEASES, ...CHANGES, ...LIMITS, ...RATES, ...COUNTS, ...SEATS }))(
    '%s',
    async ([, { edits, schedule }]) => {
      await expectNoticed(await load([...SCALE, ...edits]), schedule);
    },
  );

  test('messages leave before what was written before them is on disk', async () => {
    const steps = [112, 118, 124, 130, 136, 142].flatMap((ms) => [
      verify('oc', 0, 7),
      pass(ms),
      crash('home'),
      pass(4_000),
    ]);
    await expectNoticed(sound, inOrder(steps, { isExhausted: true }), { hasOutputGate: false });
  });
});
