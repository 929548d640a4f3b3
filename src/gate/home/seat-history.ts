import { HOUR_MS } from '../../shared/rules/dates.ts';
import { MAX_HISTORY_CHANGES } from '../../shared/rules/licenses.ts';
import type { CallName } from '../../shared/rules/verdict.ts';
import { licenseEvent } from '../../shared/text/events.ts';
import type { Outgoing } from '../object/outgoing.ts';
import { describe, type Situation } from '../rules/judge.ts';
import type { CopiedLicense } from '../rules/rows.ts';
import {
  type HistoryPosition,
  REFUSALS,
  type SeatActor,
  type SeatChange,
  type SeatRefusal,
} from '../rules/seats.ts';
import type { Copy } from './copy.ts';
import { HISTORY_BYTES, historyPlace, type MachineTotals } from './machine-rows.ts';

// When the seats of a license were taken and released, and by whom, and which machines found none: its history, and the events of
// it. A seat's own row only has its present state.

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
const REFUSED_INTERVAL_MS = HOUR_MS;

export const openSeatHistory = (sql: SqlStorage, totals: Pick<MachineTotals, 'addBytes'>) => {
  /** Returns how many rows it has deleted. */
  const remove = (where: string, ...bindings: (string | number)[]): number => {
    const gone = sql.exec<CountedChange>(
      `DELETE FROM seat_changes WHERE ${where} RETURNING license_id, seq, ${HISTORY_BYTES} AS bytes`,
      ...bindings,
    );
    let rows = 0;
    for (const change of gone) {
      totals.addBytes(-change.bytes, placeOf(change));
      rows++;
    }
    return rows;
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

    /** Notes that a machine was refused. Returns false if another one of the license was within the last hour. */
    noteRefusal: (licenseId: string, nowMs: number): boolean => {
      const [noted] = sql.exec(
        `INSERT INTO seat_refusals (license_id, at_ms) VALUES (?1, ?2)
         ON CONFLICT DO UPDATE SET at_ms = excluded.at_ms WHERE at_ms <= ?2 - ?3 RETURNING 1`,
        licenseId,
        nowMs,
        REFUSED_INTERVAL_MS,
      );
      return noted !== undefined;
    },

    /** Deletes the history of a license, which has a few hundred changes. Returns how many there were. */
    erase: (licenseId: string): number => {
      sql.exec('DELETE FROM seat_refusals WHERE license_id = ?', licenseId);
      return remove('license_id = ?', licenseId);
    },
  };
};

export type SeatHistory = ReturnType<typeof openSeatHistory>;

const EVENTS = {
  taken: 'activation.created',
  released: 'activation.released',
  no_seat: 'activation.refused',
  transfer_limit: 'activation.refused',
} as const satisfies Record<SeatChange['action'], string>;

/** Why the machine found no seat, which the seller may want to know. */
export const refusalOf = (call: CallName, code: string): SeatRefusal | undefined =>
  call === 'heartbeat' ? undefined : REFUSALS.find((refusal) => refusal === code);

/** Without an id, the machine was refused. */
interface NamedMachine {
  id: string | null;
  fingerprint: string;
  name: string | null;
}

/** Writes a license's history, and the events of it. */
export const openSeatNotes = (
  copy: Pick<Copy, 'account'>,
  history: Pick<SeatHistory, 'add' | 'noteRefusal'>,
  totals: Pick<MachineTotals, 'isFull'>,
  outgoing: Pick<Outgoing, 'insert'>,
) => {
  /** Notes that a machine took or released a seat. */
  const note = (
    actor: SeatActor,
    license: CopiedLicense,
    action: SeatChange['action'],
    { id, fingerprint, name }: NamedMachine,
    nowMs: number,
  ) => {
    const change = { atMs: nowMs, action, actor, activationId: id ?? '', fingerprint, name };
    history.add(license.id, change, totals.isFull(copy.account(), nowMs));
    outgoing.insert([licenseEvent(EVENTS[action], nowMs, license, { activation_id: id, fingerprint, name })]);
  };

  return {
    move: note,

    /** Notes that a machine found no seat, at most once an hour for each license. */
    refusal: (actor: SeatActor, license: CopiedLicense, refusal: SeatRefusal, situation: Situation) => {
      const { input, nowMs } = situation;
      if (!history.noteRefusal(license.id, nowMs)) return;
      const machine = { id: null, fingerprint: input.fingerprint ?? '', name: describe(situation).name };
      note(actor, license, refusal, machine, nowMs);
    },
  };
};
