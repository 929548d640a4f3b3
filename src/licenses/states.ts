// The newest licenses in a state. `active` and `expired` depend on the date, so no index has them in order. The index
// `licenses_by_status` divides the licenses into blocks of 1,024 consecutive `seq`s and sorts each block by expiry:
// a block without a license in the state takes one lookup, and in another block only those licenses are read.
import { type SQL, sql } from 'drizzle-orm';
import { STATUS_BLOCK_BITS } from '../db/schema.ts';
import { isoDate } from '../shared/rules/dates.ts';
import type { LicenseStatus } from '../shared/rules/licenses.ts';

const block = sql.raw(`seq >> ${STATUS_BLOCK_BITS}`);

/** The condition that a license is in the state, in terms of the index `licenses_by_status`. */
export const hasState = (accountId: string, state: LicenseStatus): SQL => {
  const today = isoDate(Date.now());
  const lastDay = sql.raw(`coalesce(expires_at, '9999-12-31')`);
  const status = sql`account_id = ${accountId} AND status = ${state === 'expired' ? 'active' : state}`;
  if (state === 'active') return sql`${status} AND ${lastDay} >= ${today}`;
  return state === 'expired' ? sql`${status} AND ${lastDay} < ${today}` : status;
};

/** Returns a subquery of the `seq`s of the newest `count` licenses in the state, up to `before`. */
export const newestInState = (
  accountId: string,
  state: LicenseStatus,
  before: SQL | undefined,
  count: number,
): SQL => {
  const status = state === 'expired' ? 'active' : state;
  const isBefore = before ? sql`seq < ${before}` : sql`true`;
  const inBlock = sql`${hasState(accountId, state)} AND ${block} = block AND ${isBefore}`;
  const newestBlock = (condition: SQL) => sql`(
    SELECT ${block} FROM licenses INDEXED BY licenses_by_status
    WHERE account_id = ${accountId} AND status = ${status} AND ${condition} ORDER BY ${block} DESC LIMIT 1
  )`;
  return sql`
    WITH RECURSIVE blocks(block, found) AS (
      SELECT ${newestBlock(before ? sql`${block} <= ${before} >> ${sql.raw(`${STATUS_BLOCK_BITS}`)}` : sql`true`)}, 0
      UNION ALL
      SELECT
        ${newestBlock(sql`${block} < block`)},
        found + (SELECT count(*) FROM licenses INDEXED BY licenses_by_status WHERE ${inBlock})
      FROM blocks WHERE block IS NOT NULL AND found < ${count}
    )
    SELECT seq FROM licenses WHERE seq IN (
      SELECT seq FROM blocks CROSS JOIN licenses INDEXED BY licenses_by_status WHERE found < ${count} AND ${inBlock}
    ) ORDER BY seq DESC LIMIT ${count}`;
};
