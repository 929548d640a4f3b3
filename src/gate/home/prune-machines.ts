import type { ObjectContext } from '../../shared/objects/context.ts';
import { DAY_MS } from '../../shared/rules/dates.ts';
import { FOREVER_MS, type HistoryPosition, type MachinePosition, TRANSFER_MS } from '../rules/seats.ts';
import { END_OF_HISTORY, END_OF_MACHINES, historyPlace, machinePlace } from './machine-totals.ts';
import type { HomeStore } from './store.ts';

const FIRST_MACHINE: MachinePosition = { licenseId: '', fingerprint: '' };
const FIRST_CHANGE: HistoryPosition = { licenseId: '', seq: 0 };

/**
 * Deletes machines, with their names, 30 days after their seats have ended, also if nobody calls any more. It looks through all
 * machines, at most once a day, and at a page of them per alarm, and adds up their bytes and those of their history.
 */
export const addMachinePruning = (
  { journal, alarm }: Pick<ObjectContext, 'journal' | 'alarm'>,
  { machines, machineTotals, seatClock }: Pick<HomeStore, 'machines' | 'machineTotals' | 'seatClock'>,
) => {
  /** Where the next page begins. Null after the last machine. */
  let machine: MachinePosition | null = FIRST_MACHINE;
  let change: HistoryPosition | null = FIRST_CHANGE;
  let firstEndMs = FOREVER_MS;

  const pruneFrom = (after: MachinePosition, nowMs: number) => {
    const { next, bytes, firstEndMs: endMs } = machines.prunePage(after, seatClock.read(nowMs));
    machineTotals.recount(bytes, next ? machinePlace(next) : END_OF_MACHINES);
    // A seat of this page may end while the next ones are looked through.
    firstEndMs = Math.min(firstEndMs, endMs, next ? nowMs : FOREVER_MS);
    machine = next;
  };

  const countFrom = (after: HistoryPosition) => {
    const { next, bytes } = machines.history.countPage(after);
    machineTotals.recount(bytes, next ? historyPlace(next) : END_OF_HISTORY);
    change = next;
  };

  const lookThrough = (nowMs: number) => {
    if (machine) pruneFrom(machine, nowMs);
    if (machine) return;
    if (change) countFrom(change);
    if (change) return;
    const isNeeded = firstEndMs < FOREVER_MS;
    machineTotals.setPruneAt(isNeeded ? Math.max(nowMs + DAY_MS, firstEndMs + TRANSFER_MS) : null);
    [machine, change, firstEndMs] = [FIRST_MACHINE, FIRST_CHANGE, FOREVER_MS];
  };

  alarm.add({
    failure: 'gate_alarm_failed',
    dueMs: machineTotals.pruneAtMs,
    run: (nowMs) => {
      if (nowMs >= (machineTotals.pruneAtMs() ?? Infinity)) journal.change(() => lookThrough(nowMs));
    },
  });
};
