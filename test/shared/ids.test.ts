import { expect, test, vi } from 'vitest';
import { firstIdAt, idPattern, newId } from '../../src/shared/text/ids.ts';
import { useFakeClock } from '../support/fake-clock.ts';

// Ids are ordered within an isolate, so each test starts later than the test before it.

const makeIds = (count: number) => Array.from({ length: count }, () => newId('evt'));

const expectStrictlyOrdered = (ids: string[]) => {
  expect(ids.findIndex((id, i) => i > 0 && id <= (ids[i - 1] ?? ''))).toBe(-1);
};

test('5,000 ids of one millisecond are strictly ordered and keep its time', () => {
  useFakeClock('2027-01-01T00:00:00.000Z');
  const ids = makeIds(5_000);
  expectStrictlyOrdered(ids);
  for (const id of ids) expect(id).toMatch(idPattern('evt'));
  expect((ids[0] ?? '') >= firstIdAt('evt', Date.now())).toBe(true);
  expect((ids.at(-1) ?? '') < firstIdAt('evt', Date.now() + 1)).toBe(true);
});

test('ids stay strictly ordered when a millisecond has more than its sequence can count', () => {
  useFakeClock('2027-02-01T00:00:00.000Z');
  expectStrictlyOrdered(makeIds(300_000));
});

test.for([1, 999, 1_001, 3_600_000, 86_400_000])(
  'ids stay strictly ordered when the clock steps back by %i ms and then runs on',
  (stepMs) => {
    const startMs = Date.parse('2027-03-01T00:00:00.000Z') + stepMs * 10;
    useFakeClock(startMs);
    const ids = makeIds(10);
    vi.setSystemTime(startMs - stepMs);
    ids.push(...makeIds(2_000));
    vi.setSystemTime(startMs + 1);
    ids.push(...makeIds(10));
    expectStrictlyOrdered(ids);
    expect((ids.at(-1) ?? '') >= firstIdAt('evt', startMs + 1)).toBe(true);
  },
);
