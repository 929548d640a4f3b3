import { databaseOf } from '../../db/client.ts';
import { storeMachineBytes } from '../../db/storage.ts';
import type { ObjectContext } from '../../shared/objects/context.ts';
import type { HomeStore } from './store.ts';

const REPORTED = 'reported_machine_bytes';
/** Smaller differences wait for larger ones. */
const STEP_BYTES = 64_000;
const STEP_PART = 0.01;
const INTERVAL_MS = 60_000;

/** Reports the bytes of the machines to D1, where they count in the account's storage: at most once a minute. */
export const addStorageReport = (
  { ctx, env, accountId, journal, alarm }: ObjectContext,
  { copy, machineTotals }: Pick<HomeStore, 'copy' | 'machineTotals'>,
) => {
  const { kv } = ctx.storage;
  let reported = kv.get<number>(REPORTED) ?? 0;
  let nextMs = 0;

  const isDue = () => {
    // A copy that is loaded again may be that of a D1 that was restored to an earlier time.
    if (copy.loadPosition() !== null) reported = 0;
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
      reported = machineBytes;
      journal.write(() => kv.put(REPORTED, machineBytes));
    },
  });
};
