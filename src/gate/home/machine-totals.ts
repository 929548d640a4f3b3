import type { Writer } from '../../shared/objects/journal.ts';
import { MACHINES_SHARE, storageLimit } from '../../shared/rules/plans.ts';
import type { CopiedAccount } from '../rules/rows.ts';

// What the rows of machines and of their history take in bytes, and when the next of them is to be deleted. Both are written
// with the next commit, which many calls share.

/** What a row takes in its table and in an index, about. */
export const MACHINE_BYTES = `250 + 2 * octet_length(fingerprint) + coalesce(octet_length(name), 0)
  + coalesce(octet_length(platform), 0) + coalesce(octet_length(app_version), 0)`;
export const HISTORY_BYTES = '150 + octet_length(fingerprint) + coalesce(octet_length(name), 0)';

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

export const openMachineTotals = (sql: SqlStorage) => {
  const [stored] = sql.exec<{ bytes: number; prune_at_ms: number | null }>(
    'SELECT bytes, prune_at_ms FROM machine_totals',
  );
  const totals = { bytes: stored?.bytes ?? 0, pruneAtMs: stored?.prune_at_ms ?? null };
  let isWritten = true;

  return {
    bytes: () => totals.bytes,
    pruneAtMs: () => totals.pruneAtMs,

    /** Whether the machines take as much as those of the account may. */
    isFull: (account: CopiedAccount | null, nowMs: number): boolean =>
      account !== null && totals.bytes >= storageLimit(account, nowMs) / MACHINES_SHARE,

    addBytes: (bytes: number) => {
      if (bytes === 0) return;
      totals.bytes += bytes;
      isWritten = false;
    },

    setPruneAt: (atMs: number | null) => {
      if (atMs === totals.pruneAtMs) return;
      totals.pruneAtMs = atMs;
      isWritten = false;
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
