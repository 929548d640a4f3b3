import type { Writer } from '../../shared/objects/journal.ts';
import { MACHINES_SHARE, storageLimit } from '../../shared/rules/plans.ts';
import type { CopiedAccount } from '../rules/rows.ts';
import {
  FOREVER_MS,
  type HistoryPosition,
  liveUntilMs,
  type Machine,
  type MachinePosition,
  type NewMachine,
  type Seat,
} from '../rules/seats.ts';

// The rows of machines: their columns, and what they and those of their history take in bytes.

export type MachineRow = {
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

export const toMachine = (row: MachineRow): Machine => ({
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

/** What an application has said of its machine, also in the index by name. */
export const TEXT_BYTES = `coalesce(2 * octet_length(name) + octet_length(fingerprint) + 40, 0)
  + coalesce(octet_length(platform), 0) + coalesce(octet_length(app_version), 0)`;
/** What a row takes in its table and in its indexes, about. */
export const MACHINE_BYTES = `300 + 5 * octet_length(fingerprint) + ${TEXT_BYTES}`;
export const HISTORY_BYTES = '150 + octet_length(fingerprint) + coalesce(octet_length(name), 0)';

const COLUMNS = [
  'name',
  'platform',
  'app_version',
  'activated_at_ms',
  'last_seen_at_ms',
  'counted_at_ms',
  'lease_until_ms',
  'file_until_ms',
  'released_at_ms',
  'live_until_ms',
];
const update = (columns: string[]) =>
  `UPDATE activations SET ${columns.map((column) => `${column} = ?`).join(', ')}
   WHERE license_id = ? AND fingerprint = ? RETURNING ${MACHINE_BYTES} AS bytes`;
export const UPDATE_MACHINE = update(COLUMNS);
/** Leaves the first value out, so that the index by name isn't written. */
export const UPDATE_NAMED_MACHINE = update(COLUMNS.slice(1));
export const REPLACE_MACHINE = `INSERT OR REPLACE INTO activations (${COLUMNS.join(', ')}, license_id, fingerprint, id)
  VALUES (${COLUMNS.map(() => '?').join(', ')}, ?, ?, ?) RETURNING ${MACHINE_BYTES} AS bytes`;

/** When the seat ends, as the row has it. */
export const endMsOf = (seat: Seat): number => Math.min(liveUntilMs(seat), FOREVER_MS);

export const valuesOf = ({ licenseId, fingerprint, name, platform, appVersion, seat }: NewMachine) => [
  name,
  platform,
  appVersion,
  seat.activatedAtMs,
  seat.lastSeenAtMs,
  seat.countedAtMs,
  seat.leaseUntilMs,
  seat.fileUntilMs,
  seat.releasedAtMs,
  endMsOf(seat),
  licenseId,
  fingerprint,
];

// The bytes of all rows, and when they are looked through the next time. Both are written with the next commit, which many calls
// share, so a crash may lose what has changed. Looking through counts again.

/** Begins with the rows of an older release. The first look at them is due at once. */
export const MACHINE_TOTALS = `
  CREATE TABLE machine_totals (only INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, prune_at_ms INTEGER);
  INSERT INTO machine_totals
    SELECT 1,
      (SELECT coalesce(sum(250 + 2 * octet_length(fingerprint) + coalesce(octet_length(name), 0)
        + coalesce(octet_length(platform), 0) + coalesce(octet_length(app_version), 0)), 0) FROM activations)
      + (SELECT coalesce(sum(150 + octet_length(fingerprint) + coalesce(octet_length(name), 0)), 0) FROM seat_changes),
      0
    WHERE EXISTS (SELECT 1 FROM activations) OR EXISTS (SELECT 1 FROM seat_changes);`;

/** Where a row is in the order of a recount: machines come before their history. Neither ids nor fingerprints have spaces. */
export const machinePlace = ({ licenseId, fingerprint }: MachinePosition) => `1 ${licenseId} ${fingerprint}`;
export const historyPlace = ({ licenseId, seq }: HistoryPosition) =>
  `2 ${licenseId} ${String(seq).padStart(16, '0')}`;
/** After all machines, and after everything. */
export const [END_OF_MACHINES, END_OF_HISTORY] = ['2', '3'];

export const openMachineTotals = (sql: SqlStorage) => {
  const [stored] = sql.exec<{ bytes: number; prune_at_ms: number | null }>(
    'SELECT bytes, prune_at_ms FROM machine_totals',
  );
  const totals = { bytes: stored?.bytes ?? 0, pruneAtMs: stored?.prune_at_ms ?? null };
  let isWritten = true;
  let hasAny = stored !== undefined;
  /** The rows that a recount has counted, through a place. */
  let recount: { bytes: number; through: string } | null = null;

  const setPruneAt = (atMs: number | null) => {
    if (atMs === totals.pruneAtMs) return;
    totals.pruneAtMs = atMs;
    isWritten = false;
  };
  const pruneBy = (atMs: number) => setPruneAt(Math.min(totals.pruneAtMs ?? Infinity, atMs));

  return {
    bytes: () => totals.bytes,
    pruneAtMs: () => totals.pruneAtMs,
    setPruneAt,
    pruneBy,

    /** Whether the account has ever had a machine. */
    hasAny: () => hasAny,

    /** Whether the machines take as much as those of the account may. */
    isFull: (account: CopiedAccount | null, nowMs: number): boolean =>
      account !== null && totals.bytes >= storageLimit(account, nowMs) / MACHINES_SHARE,

    /** Notes by how many bytes a row has changed. */
    addBytes: (bytes: number, place: string) => {
      if (bytes === 0) return;
      totals.bytes += bytes;
      if (recount && place <= recount.through) recount.bytes += bytes;
      hasAny = true;
      isWritten = false;
    },

    /** Counts the rows that follow those that were counted before, through a place. The last ones end the recount. */
    recount: (bytes: number, through: string) => {
      recount = { bytes: (recount?.bytes ?? 0) + bytes, through };
      if (through !== END_OF_HISTORY) return;
      isWritten &&= totals.bytes === recount.bytes;
      totals.bytes = recount.bytes;
      recount = null;
    },

    writer: {
      write: () => {
        if (isWritten) return;
        const { bytes, pruneAtMs } = totals;
        sql.exec(
          'INSERT OR REPLACE INTO machine_totals (only, bytes, prune_at_ms) VALUES (1, ?, ?)',
          bytes,
          pruneAtMs,
        );
        isWritten = true;
      },
    } satisfies Writer,
  };
};

export type MachineTotals = ReturnType<typeof openMachineTotals>;
