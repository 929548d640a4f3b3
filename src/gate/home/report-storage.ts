import { databaseOf } from '../../db/client.ts';
import { storeMachineBytes } from '../../db/storage.ts';
import type { ObjectContext } from '../../shared/objects/context.ts';
import type { HomeStore } from './store.ts';

/** Smaller differences wait for larger ones. */
const STEP_BYTES = 64_000;
const STEP_PART = 0.01;
const INTERVAL_MS = 60_000;

/**
 * Reports the bytes of the machines to D1, where they count in the account's storage: at most once a minute. After a load of
 * the copy, D1 is told anew, because it may have been restored to an earlier time.
 */
export const addStorageReport = (
  { env, accountId, journal, alarm }: ObjectContext,
  { copy, machineTotals }: Pick<HomeStore, 'copy' | 'machineTotals'>,
) => {
  let nextMs = 0;

  const isDue = () => {
    if (copy.loadPosition() !== null) return false;
    const reported = copy.reportedBytes();
    if (reported === null) return machineTotals.hasAny();
    return Math.abs(machineTotals.bytes() - reported) > Math.max(STEP_BYTES, reported * STEP_PART);
  };

  alarm.add({
    failure: 'gate_alarm_failed',
    dueMs: (nowMs) => (isDue() ? Math.max(nowMs, nextMs) : null),
    run: async (nowMs) => {
      if (!isDue() || nowMs < nextMs) return;
      nextMs = nowMs + INTERVAL_MS;
      const machineBytes = machineTotals.bytes();
      await storeMachineBytes(databaseOf(env, accountId), accountId, machineBytes);
      // A load that began meanwhile may have found that D1 was restored.
      if (copy.loadPosition() === null) journal.write(() => copy.noteReport(machineBytes));
    },
  });
};
