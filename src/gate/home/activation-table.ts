import { DAY_MS } from '../../shared/rules/dates.ts';
import { TRANSFER_DAYS } from '../../shared/rules/terms.ts';
import { type Activation, liveUntilMs } from '../rules/seats.ts';
import type { ActivationPosition } from '../rules/seller-types.ts';

type ActivationRow = {
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

/** Sorts after every time, for seats that are held until they are released. */
export const FOREVER_MS = Number.MAX_SAFE_INTEGER;
export const TRANSFER_MS = TRANSFER_DAYS * DAY_MS;

const toActivation = (row: ActivationRow): Activation => ({
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

/** The rows of the account's activations. */
export const openActivationTable = (sql: SqlStorage) => ({
  /** Returns the machine's activation, or null if it has held no seat within the last 30 days. */
  read: (licenseId: string, fingerprint: string, nowMs: number): Activation | null => {
    const [row] = sql.exec<ActivationRow>(
      'SELECT * FROM activations WHERE license_id = ? AND fingerprint = ? AND live_until_ms > ?',
      licenseId,
      fingerprint,
      nowMs - TRANSFER_MS,
    );
    return row ? toActivation(row) : null;
  },

  insert: ({ id, licenseId, fingerprint, name, platform, appVersion, seat }: Activation) =>
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
    ),

  /** Returns an activation that has held a seat within the last 30 days. */
  find: (licenseId: string, id: string, nowMs: number): Activation | null => {
    const [row] = sql.exec<ActivationRow>(
      'SELECT * FROM activations WHERE license_id = ? AND id = ? AND live_until_ms > ?',
      licenseId,
      id,
      nowMs - TRANSFER_MS,
    );
    return row ? toActivation(row) : null;
  },

  /** Returns live seats, newest first. */
  listLive: (licenseId: string, nowMs: number, limit: number, beforeId: string | null): Activation[] =>
    sql
      .exec<ActivationRow>(
        'SELECT * FROM activations WHERE license_id = ? AND live_until_ms > ? AND id < ? ORDER BY id DESC LIMIT ?',
        licenseId,
        nowMs,
        beforeId ?? '~',
        limit,
      )
      .toArray()
      .map(toActivation),

  /** Returns the activations of all licenses that follow one, also of machines that have released their seats. */
  listAll: (after: ActivationPosition | null, limit: number): Activation[] =>
    sql
      .exec<ActivationRow>(
        `SELECT * FROM activations WHERE (license_id, fingerprint) > (?, ?)
         ORDER BY license_id, fingerprint LIMIT ?`,
        after?.licenseId ?? '',
        after?.fingerprint ?? '',
        limit,
      )
      .toArray()
      .map(toActivation),

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

  /** Returns live seats, those that were seen longest ago first. */
  listLongestUnseen: (licenseId: string, nowMs: number, limit: number): Activation[] =>
    sql
      .exec<ActivationRow>(
        'SELECT * FROM activations WHERE license_id = ? AND live_until_ms > ? ORDER BY last_seen_at_ms LIMIT ?',
        licenseId,
        nowMs,
        limit,
      )
      .toArray()
      .map(toActivation),
});
