import { expect, test } from 'vitest';
import { createLogSampler } from '../../src/http/log-sampler.ts';

test('logs ten requests of a kind each second, and the next line counts the skipped requests', () => {
  const sample = createLogSampler();
  const at = (ms: number, kind = 'verify 200') => sample(kind, 5_000 + ms);
  expect(Array.from({ length: 12 }, (_, i) => at(i))).toEqual([...Array(10).fill(1), 0, 0]);
  expect(at(12, 'verify 403')).toBe(1);
  expect(at(999)).toBe(0);
  expect([at(1_000), at(1_001)]).toEqual([4, 1]);
});

test('the lines together count every request once', () => {
  const sample = createLogSampler();
  let counted = 0;
  for (let i = 0; i < 10_000; i++) counted += sample('verify 200', i * 0.7);
  expect(counted + sample('verify 200', 60_000)).toBe(10_001);
});
