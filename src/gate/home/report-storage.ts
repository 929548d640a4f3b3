import { eq } from 'drizzle-orm';
import { databaseOf } from '../../db/client.ts';
import { licenseTotals } from '../../db/schema.ts';
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
  { machineTotals }: Pick<HomeStore, 'machineTotals'>,
) => {
  const { kv } = ctx.storage;
  let reported = kv.get<number>(REPORTED) ?? 0;
  let nextMs = 0;

  const isDue = () => Math.abs(machineTotals.bytes() - reported) > Math.max(STEP_BYTES, reported * STEP_PART);

  alarm.add({
    failure: 'gate_alarm_failed',
    dueMs: (nowMs) => (isDue() ? Math.max(nowMs, nextMs) : null),
    run: async (nowMs) => {
      if (!isDue() || nowMs < nextMs) return;
      nextMs = nowMs + INTERVAL_MS;
      const machineBytes = machineTotals.bytes();
      await databaseOf(env, accountId)
        .update(licenseTotals)
        .set({ machineBytes })
        .where(eq(licenseTotals.accountId, accountId));
      reported = machineBytes;
      journal.write(() => kv.put(REPORTED, machineBytes));
    },
  });
};
