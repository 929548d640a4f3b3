import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { load, type Start } from './machine/load.ts';
import { flood, inOrder, pass } from './mutants/mutant.ts';
import { runSchedule } from './run.ts';
import { schedule } from './schedule.ts';
import { SCALE } from './simulation.ts';

/** `npm test` always plays the same schedules, so that it fails for what was changed. `npm run test:model` looks for new ones. */
const SAME_SCHEDULES = '20261120';

const { SIMULATION_RUNS, SIMULATION_REPLAY } = process.env;
const [replaySeed, replayPath] = SIMULATION_REPLAY?.split('/') ?? [
  SIMULATION_RUNS ? undefined : SAME_SCHEDULES,
];

/** How long a shorter schedule is looked for once one has broken a promise. That could take longer than a test may run. */
const SHRINK_MS = 60_000;

let start: Start;

beforeAll(async () => {
  start = await load(SCALE);
});

test('home and its branches keep their promises through loss, cuts, crashes and drifting clocks', async () => {
  let brokenMs = Infinity;
  const keepsPromises = fc.asyncProperty(schedule, async (chosen) => {
    if (Date.now() > brokenMs + SHRINK_MS) return;
    try {
      await runSchedule(start, chosen);
    } catch (error) {
      brokenMs = Math.min(brokenMs, Date.now());
      throw error;
    }
  });
  const { seed, counterexamplePath, counterexample, errorInstance } = await fc.check(keepsPromises, {
    numRuns: Number(SIMULATION_RUNS ?? 200),
    ...(replaySeed && { seed: Number(replaySeed) }),
    ...(replayPath && { path: replayPath }),
  });
  if (!counterexample) return;
  const story: string[] = [];
  await runSchedule(start, counterexample[0], { story }).catch(() => {});
  expect.fail(
    `${String(errorInstance)}\n${story.join('\n')}\n${JSON.stringify(counterexample[0], null, 1)}\n` +
      `SIMULATION_REPLAY=${seed}/${counterexamplePath} npx vitest run --project simulation schedules`,
  );
});

test('an account that moves during a flood of calls admits a burst in each place, and no more', async () => {
  for (let ms = 1_250; ms <= 1_600; ms += 25) {
    const steps = inOrder([{ does: 'move', region: 'weur' }, pass(ms), flood]);
    await expect(runSchedule(start, { ...steps, seed: 1 })).resolves.toBeDefined();
  }
});
