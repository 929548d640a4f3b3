import { createLru } from '../../shared/memory/lru.ts';
import { newId } from '../../shared/text/ids.ts';
import type { TracedLicense } from '../rules/rows.ts';
import {
  FOREVER_MS,
  isLive,
  isRecent,
  type Machine,
  type MachinePosition,
  type NewMachine,
  TRANSFER_MS,
} from '../rules/seats.ts';
import { openEndedLicenses } from './ended-licenses.ts';
import { openFindLicenses } from './find-licenses.ts';
import { openKeptMachines } from './kept-machines.ts';
import {
  endMsOf,
  MACHINE_BYTES,
  machinePlace,
  type MachineRow,
  type MachineTotals,
  REPLACE_MACHINE,
  TEXT_BYTES,
  toMachine,
  UPDATE_MACHINE,
  UPDATE_NAMED_MACHINE,
  valuesOf,
} from './machine-rows.ts';
import { endOfRow, openSeatCounts, type SeatCounter, type SeatEndRow } from './seat-counts.ts';
import { openSeatHistory } from './seat-history.ts';

// The machines of the account's licenses, with their seats. Like the counters, they belong to the gate: D1 doesn't have them.

/** Rows that a page of a list looks through. Machines whose seats have ended are not listed. */
const MAX_LOOKED_THROUGH = 1_000;

const select = (sql: SqlStorage, where: string, ...bindings: (string | number)[]): Machine[] =>
  sql
    .exec<MachineRow>(`SELECT * FROM activations WHERE ${where}`, ...bindings)
    .toArray()
    .map(toMachine);

const readMachine = (sql: SqlStorage, licenseId: string, fingerprint: string, nowMs: number) => {
  const where = 'license_id = ? AND fingerprint = ? AND live_until_ms > ?';
  return select(sql, where, licenseId, fingerprint, nowMs - TRANSFER_MS)[0] ?? null;
};

const LISTS_IN_MEMORY = 100;
/** Told about are fewer, so that the list is read again only after many of them have moved. */
const LISTED = 200;
const MAX_TOLD = 100;

type Listed = Pick<Machine, 'fingerprint'> & { lastSeenAtMs: number };

/**
 * The machines that an application without a seat is told about: those of its license that were seen longest ago. Seen machines
 * only move to the end of that order, so a list that was read once stays its beginning, without those that have moved.
 */
const openLongestUnseen = (sql: SqlStorage, counts: Pick<SeatCounter, 'at'>) => {
  const lists = createLru<Listed[]>(LISTS_IN_MEMORY);

  /** Reads every machine of the license. */
  const readFirst = (licenseId: string, nowMs: number): Machine[] => {
    const where = 'license_id = ? AND live_until_ms > ? ORDER BY last_seen_at_ms LIMIT ?';
    const machines = select(sql, where, licenseId, nowMs, LISTED);
    lists.set(
      licenseId,
      machines.map(({ fingerprint, seat: { lastSeenAtMs } }) => ({ fingerprint, lastSeenAtMs })),
    );
    return machines;
  };

  /** Returns the listed machines that are still live and where they were in the order. */
  const unmoved = (licenseId: string, nowMs: number, limit: number): Machine[] => {
    const found: Machine[] = [];
    for (const { fingerprint, lastSeenAtMs } of lists.get(licenseId) ?? []) {
      const machine = readMachine(sql, licenseId, fingerprint, nowMs);
      if (machine?.seat.lastSeenAtMs === lastSeenAtMs && isLive(machine.seat, nowMs)) found.push(machine);
      if (found.length === limit) break;
    }
    return found;
  };

  return {
    list: (licenseId: string, nowMs: number): Machine[] => {
      const limit = Math.min(MAX_TOLD, counts.at(licenseId, nowMs).used);
      const kept = unmoved(licenseId, nowMs, limit);
      return kept.length === limit ? kept : readFirst(licenseId, nowMs).slice(0, limit);
    },

    /** Notes that a machine was written. An import may add one that was seen long ago. */
    note: ({ licenseId, seat }: Machine) => {
      const last = lists.get(licenseId)?.at(-1);
      if (last && seat.lastSeenAtMs < last.lastSeenAtMs) lists.delete(licenseId);
    },
  };
};

export const openMachines = (sql: SqlStorage, totals: MachineTotals) => {
  const counts = openSeatCounts(sql);
  const history = openSeatHistory(sql, totals);
  const { trim, prunePage, eraseSome } = openKeptMachines(sql, counts, totals);
  const ended = openEndedLicenses(sql, { eraseMachines: eraseSome, eraseHistory: history.erase });

  const longestUnseen = openLongestUnseen(sql, counts);

  return {
    count: counts.at,
    goneAtMs: counts.goneAtMs,
    history,
    ended,
    trim,
    prunePage,
    listLongestUnseen: longestUnseen.list,
    findLicenses: openFindLicenses(sql, counts),

    /** Returns the machine, or null if it has held no seat within the last 30 days. */
    read: (licenseId: string, fingerprint: string, nowMs: number): Machine | null =>
      readMachine(sql, licenseId, fingerprint, nowMs),

    /** Returns the machine with an id, or null if it has held no seat within the last 30 days. */
    find: (licenseId: string, id: string, nowMs: number): Machine | null => {
      const [row] = sql.exec<MachineRow>(
        'SELECT * FROM activations INDEXED BY activations_by_id WHERE license_id = ? AND id = ?',
        licenseId,
        id,
      );
      const machine = row && toMachine(row);
      return machine && isRecent(machine.seat, nowMs) ? machine : null;
    },

    /** Returns machines with live seats, newest first. If it gave up looking for more, `continuesAfter` is the last id it saw. */
    listLive: (
      licenseId: string,
      nowMs: number,
      limit: number,
      beforeId: string | null,
    ): { machines: Machine[]; continuesAfter: string | null } => {
      const machines: Machine[] = [];
      let seen = 0;
      const rows = sql.exec<MachineRow & { live_until_ms: number }>(
        'SELECT * FROM activations INDEXED BY activations_by_id WHERE license_id = ? AND id < ? ORDER BY id DESC',
        licenseId,
        beforeId ?? '~',
      );
      for (const row of rows) {
        if (row.live_until_ms > nowMs) machines.push(toMachine(row));
        if (machines.length === limit) break;
        if (++seen === MAX_LOOKED_THROUGH) return { machines, continuesAfter: row.id };
      }
      return { machines, continuesAfter: null };
    },

    /** Returns the machines of all licenses that follow one, also those that have released their seats. */
    listAll: (after: MachinePosition | null, limit: number): Machine[] => {
      const where = '(license_id, fingerprint) > (?, ?) ORDER BY license_id, fingerprint LIMIT ?';
      return select(sql, where, after?.licenseId ?? '', after?.fingerprint ?? '', limit);
    },

    /** Writes a machine, and gives it an id if it has none. Indexes are written only if their values are others. */
    write: (changed: NewMachine): Machine => {
      const { licenseId, fingerprint } = changed;
      ended.keep(licenseId);
      const [before] = sql.exec<{ id: string; name: string | null; bytes: number } & SeatEndRow>(
        `SELECT id, name, live_until_ms, released_at_ms, ${MACHINE_BYTES} AS bytes FROM activations WHERE license_id = ? AND fingerprint = ?`,
        licenseId,
        fingerprint,
      );
      const machine = { ...changed, id: changed.id ?? newId('act') };
      const values = valuesOf(machine);
      const run = (statement: string, bindings: (typeof values)[number][]) =>
        sql.exec<{ bytes: number }>(statement, ...bindings).one();
      const { bytes } =
        before?.id !== machine.id
          ? run(REPLACE_MACHINE, [...values, machine.id])
          : before.name === machine.name
            ? run(UPDATE_NAMED_MACHINE, values.slice(1))
            : run(UPDATE_MACHINE, values);
      const endMs = endMsOf(machine.seat);
      const isReleased = machine.seat.releasedAtMs !== null;
      counts.note(licenseId, before ? endOfRow(before) : null, { atMs: endMs, isReleased });
      totals.addBytes(bytes - (before?.bytes ?? 0), machinePlace(machine));
      if (endMs < FOREVER_MS) totals.pruneBy(endMs + TRANSFER_MS);
      longestUnseen.note(machine);
      return machine;
    },

    /** Erases what applications have said of machines that were activated until a time. Returns the number of machines. */
    eraseNames: ({ licenseId, untilMs }: TracedLicense): number => {
      history.eraseNames(licenseId, untilMs);
      const where = 'license_id = ? AND activated_at_ms <= ?';
      const rows = sql.exec<{ fingerprint: string; bytes: number }>(
        `SELECT fingerprint, ${TEXT_BYTES} AS bytes FROM activations WHERE ${where}`,
        licenseId,
        untilMs,
      );
      let machines = 0;
      for (const { fingerprint, bytes } of rows) {
        machines++;
        totals.addBytes(-bytes, machinePlace({ licenseId, fingerprint }));
      }
      sql.exec(
        `UPDATE activations SET name = NULL, platform = NULL, app_version = NULL WHERE ${where}`,
        licenseId,
        untilMs,
      );
      return machines;
    },

    /** Erases what licenses that have ended leave: the first rows at once, and the rest by the alarm. */
    eraseLicenses: (licenseIds: string[]) => {
      ended.add(licenseIds);
      for (const licenseId of licenseIds) counts.forget(licenseId);
    },
  };
};

export type Machines = ReturnType<typeof openMachines>;
