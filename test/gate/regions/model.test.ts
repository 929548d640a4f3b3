import * as fc from 'fast-check';
import { describe, expect, inject, test } from 'vitest';
import { runSchedule } from './model.ts';
import { Broken } from './model-audit.ts';
import { BROKEN } from './model-broken.ts';
import { RULES } from './model-rules.ts';
import { SCENARIOS } from './model-scenarios.ts';
import { schedule } from './model-steps.ts';

/** Schedules that a broken rule gets to break a promise, if it has none of its own. */
const BROKEN_RUNS = 1_500;

test('branches keep their promises through delay, loss, partitions, restarts and drifting clocks', () => {
  fc.assert(
    fc.property(schedule, (chosen) => runSchedule(RULES, chosen)),
    { numRuns: inject('modelRuns') },
  );
}, 3_600_000);

describe('the model', () => {
  test.for(Object.entries(SCENARIOS))('keeps its promises in the schedule for "%s"', ([, scenario]) => {
    runSchedule(RULES, scenario);
    expect(scenario.steps.length).toBeGreaterThan(0);
  });

  test.for(Object.entries(BROKEN))('notices that %s', ([name, broken]) => {
    const rules = { ...RULES, ...broken };
    const scenario = SCENARIOS[name];
    if (scenario) return expect(() => runSchedule(rules, scenario)).toThrow(Broken);
    const { errorInstance } = fc.check(
      fc.property(schedule, (chosen) => runSchedule(rules, chosen)),
      { numRuns: BROKEN_RUNS, seed: 1, endOnFailure: true },
    );
    expect(errorInstance).toBeInstanceOf(Broken);
  });
});
