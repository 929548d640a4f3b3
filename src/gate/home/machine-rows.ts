import { FOREVER_MS, liveUntilMs, type Machine, type NewMachine, type Seat } from '../rules/seats.ts';
import { MACHINE_BYTES } from './machine-totals.ts';

// The columns of a machine.

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
export const UPDATE_MACHINE = `UPDATE activations SET ${COLUMNS.map((column) => `${column} = ?`).join(', ')}
  WHERE license_id = ? AND fingerprint = ? RETURNING ${MACHINE_BYTES} AS bytes`;
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
