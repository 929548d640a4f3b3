import type { ObjectContext } from '../../shared/objects/context.ts';
import { DAY_MS } from '../../shared/rules/dates.ts';
import type { Terms } from '../../shared/rules/terms.ts';
import type { SeatClock } from '../object/seat-clock.ts';
import {
  FOREVER_MS,
  type HistoryPosition,
  type MachinePosition,
  NEW_MACHINES,
  NEW_MS,
  releasedKept,
  SPARE_MACHINES,
  TRANSFER_MS,
} from '../rules/seats.ts';
import type { EndedLicenses } from './ended-licenses.ts';
import {
  END_OF_HISTORY,
  END_OF_MACHINES,
  historyPlace,
  MACHINE_BYTES,
  machinePlace,
  type MachineTotals,
} from './machine-rows.ts';
import { endOfRow, type SeatCounter, type SeatEndRow } from './seat-counts.ts';
import type { SeatHistory } from './seat-history.ts';

// Which machines go: those whose seats ended 30 days ago, and those that a license has too many of.

/**
 * The part of a license's rows that may be outdated, and by how much one with a limit may have more released machines than it
 * keeps. Deleting some reads all of its rows, so most calls delete none.
 */
const SLACK_PART = 0.01;
/** Rows that one call deletes at most. A license that got a limit of its machines, or was out of use, may have many more to delete. */
const MAX_TRIMMED = 1_000;
const PRUNE_PAGE = 1_000;

type PruneRow = { license_id: string; fingerprint: string; live_until_ms: number; bytes: number };

export const openKeptMachines = (sql: SqlStorage, counts: SeatCounter, totals: MachineTotals) => {
  /** Returns how many rows it has deleted. */
  const remove = (where: string, ...bindings: (string | number)[]): number => {
    const gone = sql
      .exec<PruneRow & SeatEndRow>(
        `DELETE FROM activations WHERE ${where}
         RETURNING license_id, fingerprint, live_until_ms, released_at_ms, ${MACHINE_BYTES} AS bytes`,
        ...bindings,
      )
      .toArray();
    for (const row of gone) {
      const { license_id: licenseId, fingerprint, bytes } = row;
      counts.note(licenseId, endOfRow(row), null);
      totals.addBytes(-bytes, machinePlace({ licenseId, fingerprint }));
    }
    return gone.length;
  };

  /** Deletes the machines that were seen longest ago: of the new ones, while these are too many, and then of all. */
  const trimAll = (licenseId: string, surplus: number, nowMs: number): boolean => {
    if (surplus <= 0) return false;
    const count = remove(
      `license_id = ?1 AND fingerprint IN (
         SELECT fingerprint FROM (
           SELECT fingerprint, last_seen_at_ms, file_until_ms, is_new,
             row_number() OVER (PARTITION BY is_new ORDER BY last_seen_at_ms DESC) AS rank
           FROM (
             SELECT *, counted_at_ms < activated_at_ms + ${NEW_MS} AS is_new
             FROM activations WHERE license_id = ?1 AND live_until_ms > ?2
           )
         )
         WHERE coalesce(file_until_ms, 0) <= ?3
         ORDER BY is_new AND rank > ${NEW_MACHINES} DESC, last_seen_at_ms LIMIT ?4)`,
      licenseId,
      nowMs - TRANSFER_MS,
      nowMs,
      Math.min(surplus, MAX_TRIMMED),
    );
    return count > 0;
  };

  /** Deletes the released machines that were seen longest ago. Those whose leases have ended may return for 30 days. */
  const trimReleased = (licenseId: string, surplus: number, nowMs: number) =>
    remove(
      `license_id = ?1 AND fingerprint IN (
         SELECT fingerprint FROM activations
         WHERE license_id = ?1 AND released_at_ms IS NOT NULL AND live_until_ms <= ?2
         ORDER BY last_seen_at_ms LIMIT ?3)`,
      licenseId,
      nowMs,
      Math.min(surplus, MAX_TRIMMED),
    );

  /** Deletes machines whose seats ended 30 days ago. */
  const trimOld = (licenseId: string, nowMs: number) =>
    remove(
      `license_id = ?1 AND fingerprint IN (
         SELECT fingerprint FROM activations WHERE license_id = ?1 AND live_until_ms <= ?2 LIMIT ?3)`,
      licenseId,
      nowMs - TRANSFER_MS,
      MAX_TRIMMED,
    );

  return {
    /** Deletes some of a license's machines. Returns how many. */
    eraseSome: (licenseId: string, limit: number): number =>
      remove(
        `license_id = ?1 AND fingerprint IN (SELECT fingerprint FROM activations WHERE license_id = ?1 LIMIT ?2)`,
        licenseId,
        limit,
      ),

    /**
     * Deletes the license's machines that it doesn't keep. Call it after one was added. Returns whether some of them may have
     * held a seat.
     */
    trim: (licenseId: string, { maxActivations, maxTransfers }: Terms, nowMs: number): boolean => {
      const { recent, released, rows } = counts.at(licenseId, nowMs);
      if (rows - recent > rows * SLACK_PART) trimOld(licenseId, nowMs);
      if (maxActivations === null) return trimAll(licenseId, recent - SPARE_MACHINES, nowMs);
      const kept = releasedKept(maxActivations, maxTransfers);
      if (released - kept > kept * SLACK_PART) trimReleased(licenseId, released - kept, nowMs);
      return false;
    },

    /**
     * Deletes the machines of a page that have held no seat within the last 30 days. Returns where the next page begins, or null
     * after the last one, when the first seat of the page ends or has ended, and the bytes of the machines that stay.
     */
    prunePage: (
      { licenseId, fingerprint }: MachinePosition,
      nowMs: number,
    ): { next: MachinePosition | null; firstEndMs: number; bytes: number } => {
      const page = sql
        .exec<PruneRow>(
          `SELECT license_id, fingerprint, live_until_ms, ${MACHINE_BYTES} AS bytes FROM activations
           WHERE (license_id, fingerprint) > (?, ?) ORDER BY license_id, fingerprint LIMIT ${PRUNE_PAGE}`,
          licenseId,
          fingerprint,
        )
        .toArray();
      const last = page.at(-1);
      const oldestMs = nowMs - TRANSFER_MS;
      const kept = page.filter((row) => row.live_until_ms > oldestMs);
      if (last && kept.length < page.length)
        remove(
          '(license_id, fingerprint) > (?, ?) AND (license_id, fingerprint) <= (?, ?) AND live_until_ms <= ?',
          licenseId,
          fingerprint,
          last.license_id,
          last.fingerprint,
          oldestMs,
        );
      const isFull = page.length === PRUNE_PAGE;
      return {
        next: last && isFull ? { licenseId: last.license_id, fingerprint: last.fingerprint } : null,
        firstEndMs: Math.min(FOREVER_MS, ...kept.map((row) => row.live_until_ms)),
        bytes: kept.reduce((sum, { bytes }) => sum + bytes, 0),
      };
    },
  };
};

type KeptMachines = ReturnType<typeof openKeptMachines>;

const FIRST_MACHINE: MachinePosition = { licenseId: '', fingerprint: '' };
const FIRST_CHANGE: HistoryPosition = { licenseId: '', seq: 0 };

/**
 * Deletes machines, with their names, 30 days after their seats have ended, also if nobody calls any more. It looks through all
 * machines, at most once a day, and at a page of them per alarm, and adds up their bytes and those of their history. What ended
 * licenses leave goes first.
 */
export const addMachinePruning = (
  { journal, alarm }: Pick<ObjectContext, 'journal' | 'alarm'>,
  {
    machines,
    machineTotals,
    seatClock,
  }: {
    machines: Pick<KeptMachines, 'prunePage'> & {
      history: Pick<SeatHistory, 'countPage'>;
      ended: Pick<EndedLicenses, 'hasAny' | 'erasePage'>;
    };
    machineTotals: MachineTotals;
    seatClock: Pick<SeatClock, 'read'>;
  },
) => {
  /** Where the next page begins. Null after the last machine. */
  let machine: MachinePosition | null = FIRST_MACHINE;
  let change: HistoryPosition | null = FIRST_CHANGE;
  let firstEndMs = FOREVER_MS;

  const pruneFrom = (after: MachinePosition, nowMs: number) => {
    const { next, bytes, firstEndMs: endMs } = machines.prunePage(after, seatClock.read(nowMs));
    machineTotals.recount(bytes, next ? machinePlace(next) : END_OF_MACHINES);
    firstEndMs = Math.min(firstEndMs, endMs);
    machine = next;
  };

  const countFrom = (after: HistoryPosition) => {
    const { next, bytes } = machines.history.countPage(after);
    machineTotals.recount(bytes, next ? historyPlace(next) : END_OF_HISTORY);
    change = next;
  };

  const lookThrough = (nowMs: number) => {
    if (machine) pruneFrom(machine, nowMs);
    if (!machine && change) countFrom(change);
    if (machine || change) {
      // A seat of a page that was looked through may end before the next page is.
      firstEndMs = Math.min(firstEndMs, nowMs);
      return;
    }
    const isNeeded = firstEndMs < FOREVER_MS;
    machineTotals.setPruneAt(isNeeded ? Math.max(nowMs + DAY_MS, firstEndMs + TRANSFER_MS) : null);
    [machine, change, firstEndMs] = [FIRST_MACHINE, FIRST_CHANGE, FOREVER_MS];
  };

  alarm.add({
    failure: 'gate_alarm_failed',
    dueMs: (nowMs) => (machines.ended.hasAny() ? nowMs : machineTotals.pruneAtMs()),
    run: (nowMs) => {
      if (machines.ended.hasAny()) journal.change(machines.ended.erasePage);
      else if (nowMs >= (machineTotals.pruneAtMs() ?? Infinity)) journal.change(() => lookThrough(nowMs));
    },
  });
};
