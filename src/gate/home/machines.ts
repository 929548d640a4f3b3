import type { Terms } from '../../shared/rules/terms.ts';
import { newId } from '../../shared/text/ids.ts';
import type { TracedLicense } from '../rules/rows.ts';
import {
  FOREVER_MS,
  isRecent,
  type Machine,
  type MachinePosition,
  machinesKept,
  type NewMachine,
  TRANSFER_MS,
} from '../rules/seats.ts';
import { openLongestUnseen } from './longest-unseen.ts';
import {
  endMsOf,
  type MachineRow,
  REPLACE_MACHINE,
  toMachine,
  UPDATE_MACHINE,
  valuesOf,
} from './machine-rows.ts';
import { MACHINE_BYTES, type MachineTotals } from './machine-totals.ts';
import { openSeatCounts } from './seat-counts.ts';
import { openSeatHistory } from './seat-history.ts';

// The machines of the account's licenses, with their seats. Like the counters, they belong to the gate: D1 doesn't have them.

/** Rows that a page of a list looks through. Machines whose seats have ended are not listed. */
const MAX_LOOKED_THROUGH = 1_000;
/** The part of a license's rows that may be older than 30 days: deleting them reads all of its rows. */
const OUTDATED_PART = 0.01;
/** Rows that one call deletes at most, in a license that got a limit of its machines when it had many more. */
const MAX_TRIMMED = 1_000;
const PRUNE_PAGE = 1_000;

export const openMachines = (sql: SqlStorage, totals: MachineTotals) => {
  const counts = openSeatCounts(sql);
  const history = openSeatHistory(sql, totals);

  const select = (where: string, ...bindings: (string | number)[]): Machine[] =>
    sql
      .exec<MachineRow>(`SELECT * FROM activations WHERE ${where}`, ...bindings)
      .toArray()
      .map(toMachine);

  /** Returns the machine, or null if it has held no seat within the last 30 days. */
  const read = (licenseId: string, fingerprint: string, nowMs: number): Machine | null => {
    const where = 'license_id = ? AND fingerprint = ? AND live_until_ms > ?';
    return select(where, licenseId, fingerprint, nowMs - TRANSFER_MS)[0] ?? null;
  };

  /** Deletes rows. Returns how many. */
  const remove = (where: string, ...bindings: (string | number)[]): number => {
    const gone = sql
      .exec<{ license_id: string; live_until_ms: number; bytes: number }>(
        `DELETE FROM activations WHERE ${where} RETURNING license_id, live_until_ms, ${MACHINE_BYTES} AS bytes`,
        ...bindings,
      )
      .toArray();
    for (const { license_id: licenseId, live_until_ms: endMs, bytes } of gone) {
      counts.note(licenseId, endMs, null);
      totals.addBytes(-bytes);
    }
    return gone.length;
  };

  const longestUnseen = openLongestUnseen({
    read,
    countLive: (licenseId, nowMs) => counts.at(licenseId, nowMs).used,
    readFirst: (licenseId, nowMs, limit) =>
      select(
        'license_id = ? AND live_until_ms > ? ORDER BY last_seen_at_ms LIMIT ?',
        licenseId,
        nowMs,
        limit,
      ),
  });

  return {
    count: counts.at,
    history,
    read,
    listLongestUnseen: longestUnseen.list,

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
      return select(where, after?.licenseId ?? '', after?.fingerprint ?? '', limit);
    },

    /** Writes a machine, and gives it an id if it has none. The index by id is written only if the id is another one. */
    write: (changed: NewMachine): Machine => {
      const { licenseId, fingerprint } = changed;
      const [before] = sql.exec<{ id: string; live_until_ms: number; bytes: number }>(
        `SELECT id, live_until_ms, ${MACHINE_BYTES} AS bytes FROM activations WHERE license_id = ? AND fingerprint = ?`,
        licenseId,
        fingerprint,
      );
      const machine = { ...changed, id: changed.id ?? newId('act') };
      const values = valuesOf(machine);
      const { bytes } = (
        before?.id === machine.id
          ? sql.exec<{ bytes: number }>(UPDATE_MACHINE, ...values)
          : sql.exec<{ bytes: number }>(REPLACE_MACHINE, ...values, machine.id)
      ).one();
      const endMs = endMsOf(machine.seat);
      counts.note(licenseId, before?.live_until_ms ?? null, endMs);
      totals.addBytes(bytes - (before?.bytes ?? 0));
      if (endMs < FOREVER_MS)
        totals.setPruneAt(Math.min(totals.pruneAtMs() ?? Infinity, endMs + TRANSFER_MS));
      longestUnseen.note(machine);
      return machine;
    },

    /** Deletes the license's machines that it doesn't keep, see `machinesKept`. Call it after one was added. */
    trim: (licenseId: string, terms: Terms, nowMs: number) => {
      const { recent, rows } = counts.at(licenseId, nowMs);
      const oldestMs = nowMs - TRANSFER_MS;
      if (rows - recent > rows * OUTDATED_PART)
        remove('license_id = ? AND live_until_ms <= ?', licenseId, oldestMs);
      const surplus = recent - machinesKept(terms);
      if (surplus <= 0) return;
      remove(
        `license_id = ?1 AND fingerprint IN (
           SELECT fingerprint FROM activations WHERE license_id = ?1 AND live_until_ms BETWEEN ?2 AND ?3
           ORDER BY last_seen_at_ms LIMIT ?4)`,
        licenseId,
        oldestMs + 1,
        terms.maxActivations === null ? FOREVER_MS : nowMs,
        Math.min(surplus, MAX_TRIMMED),
      );
    },

    /**
     * Deletes the machines of a page that have held no seat within the last 30 days. Returns where the next page begins, or null
     * after the last one, and when the first seat of the page ends or has ended.
     */
    prunePage: (
      after: MachinePosition,
      nowMs: number,
    ): { next: MachinePosition | null; firstEndMs: number } => {
      const { licenseId, fingerprint } = after;
      const page = sql
        .exec<{ license_id: string; fingerprint: string; live_until_ms: number }>(
          `SELECT license_id, fingerprint, live_until_ms FROM activations WHERE (license_id, fingerprint) > (?, ?)
           ORDER BY license_id, fingerprint LIMIT ${PRUNE_PAGE}`,
          licenseId,
          fingerprint,
        )
        .toArray();
      const last = page.at(-1);
      if (!last) return { next: null, firstEndMs: FOREVER_MS };
      const oldestMs = nowMs - TRANSFER_MS;
      if (page.some((row) => row.live_until_ms <= oldestMs))
        remove(
          '(license_id, fingerprint) > (?, ?) AND (license_id, fingerprint) <= (?, ?) AND live_until_ms <= ?',
          licenseId,
          fingerprint,
          last.license_id,
          last.fingerprint,
          oldestMs,
        );
      const ends = page.map((row) => row.live_until_ms).filter((endMs) => endMs > oldestMs);
      return {
        next: page.length < PRUNE_PAGE ? null : { licenseId: last.license_id, fingerprint: last.fingerprint },
        firstEndMs: Math.min(FOREVER_MS, ...ends),
      };
    },

    /** Notes that a machine was refused. Returns false if another one was refused within the interval. */
    noteRefusal: (licenseId: string, nowMs: number, intervalMs: number): boolean => {
      const [noted] = sql.exec(
        `INSERT INTO seat_refusals (license_id, at_ms) VALUES (?1, ?2)
         ON CONFLICT DO UPDATE SET at_ms = excluded.at_ms WHERE at_ms <= ?2 - ?3 RETURNING 1`,
        licenseId,
        nowMs,
        intervalMs,
      );
      return noted !== undefined;
    },

    /** Erases the names of machines that were activated until a time. Returns the number of machines. */
    eraseNames: ({ licenseId, untilMs }: TracedLicense): number => {
      history.eraseNames(licenseId, untilMs);
      const { machines, bytes } = sql
        .exec<{ machines: number; bytes: number }>(
          `SELECT count(*) AS machines, coalesce(sum(octet_length(name)), 0) AS bytes
           FROM activations WHERE license_id = ? AND activated_at_ms <= ?`,
          licenseId,
          untilMs,
        )
        .one();
      sql.exec(
        'UPDATE activations SET name = NULL WHERE license_id = ? AND activated_at_ms <= ?',
        licenseId,
        untilMs,
      );
      totals.addBytes(-bytes);
      return machines;
    },

    eraseLicense: (licenseId: string) => {
      remove('license_id = ?', licenseId);
      sql.exec('DELETE FROM seat_refusals WHERE license_id = ?', licenseId);
      history.erase(licenseId);
      counts.forget(licenseId);
    },
  };
};

export type Machines = ReturnType<typeof openMachines>;
