import type { ObjectContext } from '../../shared/objects/context.ts';
import { DAY_MS } from '../../shared/rules/dates.ts';
import { FOREVER_MS, type MachinePosition, TRANSFER_MS } from '../rules/seats.ts';
import type { HomeStore } from './store.ts';

const BEGIN: MachinePosition = { licenseId: '', fingerprint: '' };

/**
 * Deletes machines, with their names, 30 days after their seats have ended, also if nobody calls any more. It looks through all
 * machines, at most once a day, and at a page of them per alarm.
 */
export const addMachinePruning = (
  { journal, alarm }: Pick<ObjectContext, 'journal' | 'alarm'>,
  { machines, machineTotals, seatClock }: Pick<HomeStore, 'machines' | 'machineTotals' | 'seatClock'>,
) => {
  let after = BEGIN;
  let firstEndMs = FOREVER_MS;

  const prune = (nowMs: number) => {
    const page = machines.prunePage(after, seatClock.read(nowMs));
    // A seat of this page may end while the next ones are looked through.
    firstEndMs = Math.min(firstEndMs, page.firstEndMs, page.next ? nowMs : FOREVER_MS);
    after = page.next ?? BEGIN;
    if (page.next) return;
    const isNeeded = firstEndMs < FOREVER_MS;
    machineTotals.setPruneAt(isNeeded ? Math.max(nowMs + DAY_MS, firstEndMs + TRANSFER_MS) : null);
    firstEndMs = FOREVER_MS;
  };

  alarm.add({
    failure: 'gate_alarm_failed',
    dueMs: machineTotals.pruneAtMs,
    run: (nowMs) => {
      if (nowMs >= (machineTotals.pruneAtMs() ?? Infinity)) journal.change(() => prune(nowMs));
    },
  });
};
