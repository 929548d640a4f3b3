import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { openModel } from './model.ts';
import { RULES, type Rules } from './model-rules.ts';
import { schedule } from './model-steps.ts';

const run = (rules: Rules, runs: number, seed?: number) =>
  fc.check(
    fc.property(schedule, (chosen) => {
      const model = openModel(rules, chosen);
      for (const step of chosen.steps) model.take(step);
      model.finish(chosen.isExhausted);
    }),
    { numRuns: runs, ...(seed !== undefined && { seed }) },
  );

test('whole', () => {
  const t = performance.now();
  const result = run(RULES, 500, 1);
  console.log(performance.now() - t, fc.defaultReportMessage(result));
  expect(result.failed).toBe(false);
});
