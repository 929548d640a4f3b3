import { runDurableObjectAlarm } from 'cloudflare:test';
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { newReload } from '../../src/gate/home/progress.ts';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { evict, gate, raiseEpoch, readGate, tamper } from '../support/gate.ts';
import { sellerWithLicense } from '../support/worlds.ts';

const SPREAD_MS = HOUR_MS / 6;

const progressOf = async (accountId: string): Promise<unknown> => {
  const [row] = await readGate<{ value: string }>(
    accountId,
    "SELECT value FROM facts WHERE name = 'progress'",
  );
  return row && JSON.parse(row.value);
};

/** A seller whose gate has decided, with a call, to load its copy again. */
const sellerOfOldEpoch = async () => {
  const { ada, license } = await sellerWithLicense();
  await raiseEpoch(ada.accountId);
  await ada.verify(license.license_key);
  expect(await progressOf(ada.accountId)).toMatchObject({ reload: { loadedThrough: '' } });
  return ada;
};

test('reloads of many gates start spread over ten minutes', () => {
  const nowMs = Date.parse('2027-03-10T12:00:00.000Z');
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (random) => {
      expect(newReload(false, nowMs, random).startsMs - nowMs).toBeCloseTo(random * SPREAD_MS, 0);
    }),
  );
});

test('a reload starts within ten minutes of a call, also if the gate restarts meanwhile', async () => {
  useFakeClock();
  const { accountId } = await sellerOfOldEpoch();
  vi.advanceTimersByTime(SPREAD_MS);
  await evict(accountId);
  expect(await runDurableObjectAlarm(gate(accountId))).toBe(true);
  expect(await progressOf(accountId)).toMatchObject({ reload: null });
});

test('a reload that has waited under version 1.0, which stored no time for it, starts at once', async () => {
  useFakeClock();
  const { accountId } = await sellerOfOldEpoch();
  await tamper(
    accountId,
    "UPDATE facts SET value = json_remove(value, '$.reload.startsMs') WHERE name = 'progress'",
  );
  expect(await runDurableObjectAlarm(gate(accountId))).toBe(true);
  expect(await progressOf(accountId)).toMatchObject({ reload: null });
});
