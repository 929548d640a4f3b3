import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { backoffMs, openAlarm } from '../../src/shared/objects/alarm.ts';
import { useFakeClock } from '../support/fake-clock.ts';

const NOW = Date.parse('2027-03-10T12:00:00.000Z');

test('the backoff grows with each failure, up to five minutes, and never falls below half of its step', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (failures, r) => {
        const delayMs = backoffMs(failures, r);
        const stepMs = Math.min(300_000, 1_000 * 2 ** failures);
        expect(delayMs).toBeGreaterThanOrEqual(stepMs / 2);
        expect(delayMs).toBeLessThanOrEqual(stepMs);
      },
    ),
  );
  expect(backoffMs(0, 0.5)).toBe(0);
});

/** Runs `work` with an alarm on a fake storage, at the time NOW. */
const withAlarm = async (
  work: (opened: {
    alarm: ReturnType<typeof openAlarm>;
    /** Returns when the alarm is set for, and how often it was set. */
    standing: () => { inMs: number | null; sets: number };
  }) => Promise<void>,
) => {
  useFakeClock(NOW);
  let [setForMs, sets]: [number | null, number] = [null, 0];
  const storage = {
    getAlarm: async () => setForMs,
    setAlarm: async (ms: number) => {
      setForMs = ms;
      sets++;
    },
  };
  const alarm = openAlarm({ storage } as unknown as DurableObjectState, {});
  const standing = () => ({ inMs: setForMs === null ? null : setForMs - Date.now(), sets });
  const { run } = alarm;
  // The platform takes the alarm away when it runs.
  alarm.run = async () => {
    setForMs = null;
    await run();
  };
  await work({ alarm, standing });
};

const job = (dueMs: () => number | null, run: () => void = () => {}) => ({ failure: 'failed', dueMs, run });

test('the alarm is set for the job that is due first, and a standing alarm is not moved to a later time', () =>
  withAlarm(async ({ alarm, standing }) => {
    await alarm.arm();
    expect(standing()).toEqual({ inMs: null, sets: 0 });
    let dueMs = NOW + 5_000;
    alarm.add(job(() => dueMs));
    alarm.add(job(() => NOW + 9_000));
    alarm.add(job(() => null));
    await Promise.all([alarm.arm(), alarm.arm()]);
    expect(standing()).toEqual({ inMs: 5_000, sets: 1 });
    dueMs = NOW + 7_000;
    await alarm.arm();
    expect(standing()).toEqual({ inMs: 5_000, sets: 1 });
    dueMs = NOW - 1;
    await Promise.all([alarm.arm(NOW + 2_000), alarm.arm()]);
    expect(standing().inMs).toBe(1);
  }));

test('a job that fails waits longer each time, while the others run', () =>
  withAlarm(async ({ alarm, standing }) => {
    let [failures, runs] = [0, 0];
    alarm.add(
      job(
        () => NOW,
        () => {
          failures++;
          throw new Error('D1 is down.');
        },
      ),
    );
    alarm.add(
      job(
        () => null,
        () => {
          runs++;
        },
      ),
    );
    for (let i = 1; i <= 5; i++) {
      await alarm.run();
      expect([failures, runs]).toEqual([i, 2 * i - 1]);
      const inMs = standing().inMs ?? 0;
      expect(inMs).toBeGreaterThanOrEqual(500 * 2 ** i);
      vi.advanceTimersByTime(inMs / 2);
      await alarm.run();
      expect(failures).toBe(i);
      vi.advanceTimersByTime(inMs);
    }
  }));
