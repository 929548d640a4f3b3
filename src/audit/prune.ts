import { eq, sql } from 'drizzle-orm';
import type { DatabaseCtx } from '../db/ctx.ts';
import { scheduledPositions } from '../db/schema.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import { firstIdAt } from '../shared/text/ids.ts';

const KEEP_MS = 366 * DAY_MS;

const WORK = 'prune_audit_log';

/** The most accounts that a run visits. The next run continues after them. */
const MAX_ACCOUNTS = 5_000;
const MAX_ROWS_PER_STEP = 1_000;
const MAX_STEPS = 50;

/** Deletes old entries. Returns whether more may be left of the same accounts. */
const pruneStep = async ({ db }: DatabaseCtx): Promise<boolean> => {
  const [saved] = await db
    .select({ position: scheduledPositions.position })
    .from(scheduledPositions)
    .where(eq(scheduledPositions.work, WORK));
  // No index has the entries of all accounts by time. Instead, each step of the recursion jumps to the next account, whose
  // old entries are the first of its key range.
  const visited = sql`WITH RECURSIVE visited(id) AS (
    SELECT min(account_id) FROM audit_log WHERE account_id > ${saved?.position ?? ''}
    UNION ALL
    SELECT (SELECT min(account_id) FROM audit_log WHERE account_id > visited.id) FROM visited
    WHERE visited.id IS NOT NULL LIMIT ${MAX_ACCOUNTS})`;
  const old = sql`${visited}
    SELECT audit_log.account_id, audit_log.id FROM visited CROSS JOIN audit_log
    ON audit_log.account_id = visited.id AND audit_log.id < ${firstIdAt('aud', Date.now() - KEEP_MS)}
    LIMIT ${MAX_ROWS_PER_STEP}`;
  const [end] = await db.all<{ position: string }>(
    sql`${visited} SELECT iif(count(id) < ${MAX_ACCOUNTS}, '', max(id)) AS position FROM visited`,
  );
  // `meta.changes` also counts what triggers change.
  const deleted = await db.all(sql`DELETE FROM audit_log WHERE (account_id, id) IN (${old}) RETURNING 1`);
  if (deleted.length === MAX_ROWS_PER_STEP) return true;
  const position = end?.position ?? '';
  await db
    .insert(scheduledPositions)
    .values({ work: WORK, position })
    .onConflictDoUpdate({ target: scheduledPositions.work, set: { position } });
  return false;
};

/** Deletes entries that are more than a year old. */
export const pruneAuditLog = async (ctx: DatabaseCtx): Promise<void> => {
  for (let step = 0; step < MAX_STEPS; step++) if (!(await pruneStep(ctx))) return;
};
