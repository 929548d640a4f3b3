import { newId } from '../../shared/text/ids.ts';
import { createLru } from '../../shared/memory/lru.ts';
import { FOREVER_MS, openActivationTable, TRANSFER_MS } from './activation-table.ts';
import { openSeatHistory } from './seat-history.ts';
import { isRecent, liveUntilMs, type SeatCounts, type Activation } from '../rules/seats.ts';
import type { TracedLicense } from '../rules/seller-types.ts';

// The seats of the account's licenses. Like the counters, they belong to the gate: D1 doesn't have them.

const LICENSES_IN_MEMORY = 1_000;

/** Counts of a license's seats, which hold until a lease ends or a machine's absence exceeds 30 days. */
interface KnownCounts extends SeatCounts {
  untilMs: number;
}

export const openActivations = (sql: SqlStorage) => {
  const countsByLicense = createLru<KnownCounts>(LICENSES_IN_MEMORY);
  const { insert, ...reads } = openActivationTable(sql);
  const history = openSeatHistory(sql);

  const recount = (licenseId: string, nowMs: number): KnownCounts => {
    const oldestMs = nowMs - TRANSFER_MS;
    sql.exec('DELETE FROM activations WHERE license_id = ? AND live_until_ms <= ?', licenseId, oldestMs);
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
    ...reads,
    count,
    history,

    /** Renews a live seat. The counts hold until it ends, which is earlier than before if its terms have got a lease. */
    renew: (activation: Activation) => {
      insert(activation);
      const counts = countsByLicense.get(activation.licenseId);
      if (counts) counts.untilMs = Math.min(counts.untilMs, liveUntilMs(activation.seat));
    },

    /** Gives a seat to a machine. A machine that returns after it released its seat gets a new id. */
    take: (machine: Omit<Activation, 'id'>, previous: Activation | null, nowMs: number): Activation => {
      const isSame = previous !== null && previous.seat.releasedAtMs === null;
      const activation = { ...machine, id: isSame ? previous.id : newId('act') };
      const counts = countsByLicense.get(machine.licenseId);
      insert(activation);
      if (counts) {
        countsByLicense.set(machine.licenseId, {
          used: counts.used + 1,
          recent: counts.recent + (previous && isRecent(previous.seat, nowMs) ? 0 : 1),
          untilMs: Math.min(counts.untilMs, liveUntilMs(activation.seat)),
        });
      }
      return activation;
    },

    /** Writes a seat that was released, or that an offline file holds from now on. */
    replace: (activation: Activation) => {
      insert(activation);
      countsByLicense.delete(activation.licenseId);
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

export type Activations = ReturnType<typeof openActivations>;
