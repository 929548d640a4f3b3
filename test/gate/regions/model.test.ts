import * as fc from 'fast-check';
import { describe, expect, inject, test } from 'vitest';
import { Broken } from './model-audit.ts';
import { BROKEN } from './model-broken.ts';
import { RULES } from './model-rules.ts';
import { SCENARIOS } from './model-scenarios.ts';
import { schedule } from './model-steps.ts';
import { runSchedule } from './model.ts';

/** Schedules in which a broken rule has to break a promise, if it has no schedule of its own. */
const BROKEN_RUNS = 2_000;
const RUNS_TIMEOUT_MS = 3_600_000;

const runs = (rules: typeof RULES) =>
  fc.property(schedule, (chosen) => {
    runSchedule(rules, chosen);
  });

test(
  'branches keep their promises through delay, loss, partitions, restarts and drifting clocks',
  { timeout: RUNS_TIMEOUT_MS },
  () => {
    expect(() => fc.assert(runs(RULES), { numRuns: inject('modelRuns') })).not.toThrow();
  },
);

test('a good part of the calls in the schedules is counted by branches', () => {
  const counted = fc.sample(schedule, { numRuns: 300, seed: 1 }).map((chosen) => runSchedule(RULES, chosen));
  const all = counted.reduce((sum, calls) => sum + calls.all, 0);
  const home = counted.reduce((sum, calls) => sum + calls.home, 0);
  expect(all - home).toBeGreaterThan(all / 6);
});

describe('the model notices that', () => {
  test.for(Object.entries(SCENARIOS))('%s, in a schedule for it', ([name, scenario]) => {
    expect(() => runSchedule(RULES, scenario)).not.toThrow();
    expect(() => runSchedule({ ...RULES, ...BROKEN[name] }, scenario)).toThrow(Broken);
  });

  test.for(Object.entries(BROKEN).filter(([name]) => !SCENARIOS[name]))('%s', ([, broken]) => {
    const result = fc.check(runs({ ...RULES, ...broken }), {
      numRuns: BROKEN_RUNS,
      seed: 1,
      endOnFailure: true,
    });
    expect(result.errorInstance).toBeInstanceOf(Broken);
  });
});
