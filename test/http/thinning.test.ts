import { expect, test } from 'vitest';
import { createLogSampler } from '../../src/http/log-sampler.ts';

test('ten requests of a kind have a line each, and the next second’s first line speaks for all that had none', () => {
  const times = createLogSampler();
  const at = (ms: number, kind = 'verify 200') => times(kind, 5_000 + ms);
  expect(Array.from({ length: 12 }, (_, i) => at(i))).toEqual([...Array(10).fill(1), 0, 0]);
  expect(at(12, 'verify 403')).toBe(1);
  expect(at(999)).toBe(0);
  expect([at(1_000), at(1_001)]).toEqual([4, 1]);
});

test('every request is in exactly one line’s count, but for those since the last line', () => {
  const times = createLogSampler();
  let said = 0;
  for (let i = 0; i < 10_000; i++) said += times('verify 200', i * 0.7);
  expect(said + times('verify 200', 60_000)).toBe(10_001);
});
