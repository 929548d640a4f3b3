import { createLru } from '../../shared/memory/lru.ts';
import type { Journal } from '../../shared/objects/journal.ts';
import { DAY_MS } from '../../shared/rules/dates.ts';
import { TRANSFER_DAYS } from '../../shared/rules/terms.ts';
import { newId } from '../../shared/text/ids.ts';
import type { TracedLicense } from '../rules/rows.ts';
import {
  liveUntilMs,
  type Machine,
  type MachinePosition,
  type NewMachine,
  type SeatCounts,
} from '../rules/seats.ts';
import { openSeatHistory } from './seat-history.ts';

// The machines of the account's licenses, with their seats. Like the counters, they belong to the gate: D1 doesn't have them.

const LICENSES_IN_MEMORY = 1_000;
/** Sorts after every time, for seats that are held until they are released. */
const FOREVER_MS = Number.MAX_SAFE_INTEGER;
const TRANSFER_MS = TRANSFER_DAYS * DAY_MS;

/** Counts of a license's seats, which hold until a lease ends or a machine's absence exceeds 30 days. */
interface KnownCounts extends SeatCounts {
  untilMs: number;
}

type MachineRow = {
  id: string;
  license_id: string;
  fingerprint: string;
  name: string | null;
  platform: string | null;
  app_version: string | null;
  activated_at_ms: number;
  last_seen_at_ms: number;
  counted_at_ms: number;
  lease_until_ms: number | null;
  file_until_ms: number | null;
  released_at_ms: number | null;
};

const toMachine = (row: MachineRow): Machine => ({
  id: row.id,
  licenseId: row.license_id,
  fingerprint: row.fingerprint,
  name: row.name,
  platform: row.platform,
  appVersion: row.app_version,
  seat: {
    activatedAtMs: row.activated_at_ms,
    lastSeenAtMs: row.last_seen_at_ms,
    countedAtMs: row.counted_at_ms,
    leaseUntilMs: row.lease_until_ms,
    fileUntilMs: row.file_until_ms,
    releasedAtMs: row.released_at_ms,
  },
});

const named = (machine: NewMachine): Machine => ({ ...machine, id: machine.id ?? newId('act') });

export const openMachines = (sql: SqlStorage, journal: Pick<Journal, 'write'>) => {
  const countsByLicense = createLru<KnownCounts>(LICENSES_IN_MEMORY);
  const history = openSeatHistory(sql);

  const insert = ({ id, licenseId, fingerprint, name, platform, appVersion, seat }: Machine) =>
    sql.exec(
      `INSERT OR REPLACE INTO activations (license_id, fingerprint, id, name, platform, app_version, activated_at_ms,
         last_seen_at_ms, counted_at_ms, lease_until_ms, file_until_ms, released_at_ms, live_until_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      licenseId,
      fingerprint,
      id,
      name,
      platform,
      appVersion,
      seat.activatedAtMs,
      seat.lastSeenAtMs,
      seat.countedAtMs,
      seat.leaseUntilMs,
      seat.fileUntilMs,
      seat.releasedAtMs,
      Math.min(liveUntilMs(seat), FOREVER_MS),
    );

  const select = (where: string, ...bindings: (string | number)[]): Machine[] =>
    sql
      .exec<MachineRow>(`SELECT * FROM activations WHERE ${where}`, ...bindings)
      .toArray()
      .map(toMachine);

  /** Deletes the machines that have held no seat within the last 30 days. */
  const prune = (licenseId: string, nowMs: number) =>
    journal.write(() => {
      const oldestMs = nowMs - TRANSFER_MS;
      sql.exec('DELETE FROM activations WHERE license_id = ? AND live_until_ms <= ?', licenseId, oldestMs);
    });

  const recount = (licenseId: string, nowMs: number): KnownCounts => {
    prune(licenseId, nowMs);
    const row = sql
      .exec<{ used: number | null; recent: number; next_end_ms: number | null; oldest_ms: number | null }>(
        `SELECT sum(live_until_ms > ?2) AS used, count(*) AS recent,
           min(iif(live_until_ms > ?2, live_until_ms, NULL)) AS next_end_ms, min(live_until_ms) AS oldest_ms
         FROM activations WHERE license_id = ?1`,
        licenseId,
        nowMs,
      )
      .one();
    const untilMs = Math.min(row.next_end_ms ?? FOREVER_MS, (row.oldest_ms ?? FOREVER_MS) + TRANSFER_MS);
    return { used: row.used ?? 0, recent: row.recent, untilMs };
  };

  /** Counts all seats of the license, unless the last count still holds. */
  const count = (licenseId: string, nowMs: number): KnownCounts => {
    const known = countsByLicense.get(licenseId);
    if (known && nowMs < known.untilMs) return known;
    const counted = recount(licenseId, nowMs);
    countsByLicense.set(licenseId, counted);
    return counted;
  };

  return {
    count,
    history,

    /** Returns the machine, or null if it has held no seat within the last 30 days. */
    read: (licenseId: string, fingerprint: string, nowMs: number): Machine | null => {
      const where = 'license_id = ? AND fingerprint = ? AND live_until_ms > ?';
      return select(where, licenseId, fingerprint, nowMs - TRANSFER_MS)[0] ?? null;
    },

    /** Returns the machine with an id, or null if it has held no seat within the last 30 days. */
    find: (licenseId: string, id: string, nowMs: number): Machine | null => {
      const where = 'license_id = ? AND id = ? AND live_until_ms > ?';
      return select(where, licenseId, id, nowMs - TRANSFER_MS)[0] ?? null;
    },

    /** Returns machines with live seats, newest first. */
    listLive: (licenseId: string, nowMs: number, limit: number, beforeId: string | null): Machine[] => {
      const where = 'license_id = ? AND live_until_ms > ? AND id < ? ORDER BY id DESC LIMIT ?';
      return select(where, licenseId, nowMs, beforeId ?? '~', limit);
    },

    /** Returns machines with live seats, those that were seen longest ago first. */
    listLongestUnseen: (licenseId: string, nowMs: number, limit: number): Machine[] => {
      const where = 'license_id = ? AND live_until_ms > ? ORDER BY last_seen_at_ms LIMIT ?';
      return select(where, licenseId, nowMs, limit);
    },

    /** Returns the machines of all licenses that follow one, also those that have released their seats. */
    listAll: (after: MachinePosition | null, limit: number): Machine[] => {
      const where = '(license_id, fingerprint) > (?, ?) ORDER BY license_id, fingerprint LIMIT ?';
      return select(where, after?.licenseId ?? '', after?.fingerprint ?? '', limit);
    },

    /** Returns when the first of the license's live seats ends, or null if none does. */
    nextEndMs: (licenseId: string, nowMs: number): number | null => {
      const { end } = sql
        .exec<{ end: number | null }>(
          'SELECT min(live_until_ms) AS end FROM activations WHERE license_id = ? AND live_until_ms > ?',
          licenseId,
          nowMs,
        )
        .one();
      return end === null || end === FOREVER_MS ? null : end;
    },

    /** Renews a live seat. The counts hold until it ends, which is earlier than before if its terms have got a lease. */
    renew: (machine: Machine): Machine => {
      insert(machine);
      const counts = countsByLicense.get(machine.licenseId);
      if (counts) counts.untilMs = Math.min(counts.untilMs, liveUntilMs(machine.seat));
      return machine;
    },

    /** Gives a seat to a machine that holds none. `wasRecent` is set if the counts have it as a recent one. */
    take: (taker: NewMachine, wasRecent: boolean): Machine => {
      const machine = named(taker);
      const counts = countsByLicense.get(machine.licenseId);
      insert(machine);
      if (counts) {
        countsByLicense.set(machine.licenseId, {
          used: counts.used + 1,
          recent: counts.recent + (wasRecent ? 0 : 1),
          untilMs: Math.min(counts.untilMs, liveUntilMs(machine.seat)),
        });
      }
      return machine;
    },

    /** Writes a machine that doesn't hold a seat itself any more. */
    replace: (leaver: NewMachine): Machine => {
      const machine = named(leaver);
      insert(machine);
      countsByLicense.delete(machine.licenseId);
      return machine;
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
      return sql
        .exec(
          'UPDATE activations SET name = NULL WHERE license_id = ? AND activated_at_ms <= ? RETURNING 1',
          licenseId,
          untilMs,
        )
        .toArray().length;
    },

    eraseLicense: (licenseId: string) => {
      sql.exec('DELETE FROM activations WHERE license_id = ?', licenseId);
      sql.exec('DELETE FROM seat_refusals WHERE license_id = ?', licenseId);
      history.erase(licenseId);
      countsByLicense.delete(licenseId);
    },
  };
};

export type Machines = ReturnType<typeof openMachines>;
