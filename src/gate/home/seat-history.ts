import { MAX_HISTORY_CHANGES } from '../../shared/rules/licenses.ts';
import type { SeatActor, SeatChange } from '../rules/seats.ts';

// When the seats of a license were taken and released, and by whom. A seat's own row only has its present state.

type ChangeRow = {
  license_id: string;
  seq: number;
  at_ms: number;
  action: SeatChange['action'];
  actor: SeatActor;
  activation_id: string;
  fingerprint: string;
  name: string | null;
};

const toChange = ({
  seq,
  at_ms,
  action,
  actor,
  activation_id,
  fingerprint,
  name,
}: ChangeRow): SeatChange => ({
  seq,
  atMs: at_ms,
  action,
  actor,
  activationId: activation_id,
  fingerprint,
  name,
});

/** Older changes are deleted once for this many new ones, because each deleted row costs as much as a new one. */
const PRUNE_INTERVAL = 50;

export const openSeatHistory = (sql: SqlStorage) => ({
  add: (licenseId: string, change: Omit<SeatChange, 'seq'>) => {
    const { atMs, action, actor, activationId, fingerprint, name } = change;
    const { seq } = sql
      .exec<{ seq: number }>(
        `INSERT INTO seat_changes (license_id, seq, at_ms, action, actor, activation_id, fingerprint, name)
         SELECT ?1, coalesce(max(seq), 0) + 1, ?2, ?3, ?4, ?5, ?6, ?7 FROM seat_changes WHERE license_id = ?1
         RETURNING seq`,
        licenseId,
        atMs,
        action,
        actor,
        activationId,
        fingerprint,
        name,
      )
      .one();
    if (seq % PRUNE_INTERVAL !== 0) return;
    sql.exec(
      'DELETE FROM seat_changes WHERE license_id = ? AND seq <= ?',
      licenseId,
      seq - MAX_HISTORY_CHANGES,
    );
  },

  /** Returns the latest changes of a license's seats, newest first. */
  list: (licenseId: string, limit: number, beforeSeq: number | null): SeatChange[] =>
    sql
      .exec<ChangeRow>(
        'SELECT * FROM seat_changes WHERE license_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?',
        licenseId,
        beforeSeq ?? Number.MAX_SAFE_INTEGER,
        limit,
      )
      .toArray()
      .map(toChange),

  /** Returns the changes of all licenses that follow a change, by license. */
  listAll: (afterLicenseId: string, afterSeq: number, limit: number) =>
    sql
      .exec<ChangeRow>(
        'SELECT * FROM seat_changes WHERE (license_id, seq) > (?, ?) ORDER BY license_id, seq LIMIT ?',
        afterLicenseId,
        afterSeq,
        limit,
      )
      .toArray()
      .map((row) => ({ ...toChange(row), licenseId: row.license_id })),

  eraseNames: (licenseId: string, untilMs: number) =>
    sql.exec('UPDATE seat_changes SET name = NULL WHERE license_id = ? AND at_ms <= ?', licenseId, untilMs),

  erase: (licenseId: string) => sql.exec('DELETE FROM seat_changes WHERE license_id = ?', licenseId),
});
