import { MAX_HISTORY_CHANGES } from '../../shared/rules/licenses.ts';
import { type HistoryPosition, REFUSALS, type SeatActor, type SeatChange } from '../rules/seats.ts';
import { HISTORY_BYTES, historyPlace, type MachineTotals } from './machine-rows.ts';

// When the seats of a license were taken and released, and by whom, and which machines found none. A seat's own row only has its
// present state.

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

type CountedChange = { license_id: string; seq: number; bytes: number };
const placeOf = ({ license_id: licenseId, seq }: CountedChange) => historyPlace({ licenseId, seq });

const COUNTED_PAGE = 1_000;
/** Older changes are deleted once for this many new ones, because each deleted row costs as much as a new one. */
const PRUNE_INTERVAL = 50;

const IS_REFUSAL = `action IN (${REFUSALS.map((refusal) => `'${refusal}'`).join(', ')})`;
const isRefusal = (action: SeatChange['action']) => REFUSALS.some((refusal) => refusal === action);
/** Machines that ask again and again must not push out when seats were taken. */
const MAX_OTHER_REFUSALS = 49;

export const openSeatHistory = (sql: SqlStorage, totals: Pick<MachineTotals, 'addBytes'>) => {
  const remove = (where: string, ...bindings: (string | number)[]) => {
    const gone = sql.exec<CountedChange>(
      `DELETE FROM seat_changes WHERE ${where} RETURNING license_id, seq, ${HISTORY_BYTES} AS bytes`,
      ...bindings,
    );
    for (const change of gone) totals.addBytes(-change.bytes, placeOf(change));
  };

  /** Each refused machine keeps its latest refusal, if it is among the latest of the license. */
  const removeRefusals = (licenseId: string, fingerprint: string) =>
    remove(
      `license_id = ?1 AND ${IS_REFUSAL} AND (fingerprint = ?2 OR seq <= (
         SELECT seq FROM seat_changes WHERE license_id = ?1 AND ${IS_REFUSAL} AND fingerprint <> ?2
         ORDER BY seq DESC LIMIT 1 OFFSET ${MAX_OTHER_REFUSALS}))`,
      licenseId,
      fingerprint,
    );

  return {
    /** Adds a change. In a full account, the oldest one of the license goes. */
    add: (licenseId: string, change: Omit<SeatChange, 'seq'>, isFull: boolean) => {
      const { atMs, action, actor, activationId, fingerprint, name } = change;
      if (isRefusal(action)) removeRefusals(licenseId, fingerprint);
      const { seq, bytes } = sql
        .exec<{ seq: number; bytes: number }>(
          `INSERT INTO seat_changes (license_id, seq, at_ms, action, actor, activation_id, fingerprint, name)
           SELECT ?1, coalesce(max(seq), 0) + 1, ?2, ?3, ?4, ?5, ?6, ?7 FROM seat_changes WHERE license_id = ?1
           RETURNING seq, ${HISTORY_BYTES} AS bytes`,
          licenseId,
          atMs,
          action,
          actor,
          activationId,
          fingerprint,
          name,
        )
        .one();
      totals.addBytes(bytes, historyPlace({ licenseId, seq }));
      if (seq % PRUNE_INTERVAL === 0)
        remove('license_id = ? AND seq <= ?', licenseId, seq - MAX_HISTORY_CHANGES);
      if (isFull)
        remove(
          'license_id = ?1 AND seq < ?2 AND seq = (SELECT min(seq) FROM seat_changes WHERE license_id = ?1)',
          licenseId,
          seq,
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

    eraseNames: (licenseId: string, untilMs: number) => {
      const named = 'license_id = ? AND at_ms <= ? AND name IS NOT NULL';
      const changes = sql.exec<CountedChange>(
        `SELECT license_id, seq, octet_length(name) AS bytes FROM seat_changes WHERE ${named}`,
        licenseId,
        untilMs,
      );
      for (const change of changes) totals.addBytes(-change.bytes, placeOf(change));
      sql.exec(`UPDATE seat_changes SET name = NULL WHERE ${named}`, licenseId, untilMs);
    },

    /** Adds up the bytes of a page. `next` is null after the last one. */
    countPage: ({ licenseId, seq }: HistoryPosition): { next: HistoryPosition | null; bytes: number } => {
      const page = sql
        .exec<CountedChange>(
          `SELECT license_id, seq, ${HISTORY_BYTES} AS bytes FROM seat_changes WHERE (license_id, seq) > (?, ?)
           ORDER BY license_id, seq LIMIT ${COUNTED_PAGE}`,
          licenseId,
          seq,
        )
        .toArray();
      const last = page.length === COUNTED_PAGE ? page.at(-1) : undefined;
      return {
        next: last ? { licenseId: last.license_id, seq: last.seq } : null,
        bytes: page.reduce((sum, { bytes }) => sum + bytes, 0),
      };
    },

    erase: (licenseId: string) => remove('license_id = ?', licenseId),
  };
};

export type SeatHistory = ReturnType<typeof openSeatHistory>;
