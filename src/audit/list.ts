import { and, desc, eq, gte, lt, sql } from 'drizzle-orm';
import type * as z from 'zod';
import { type AccountDatabase, type FirstDatabase, firstDatabase, isInFirst } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { auditLog } from '../db/schema.ts';
import { toPage } from '../shared/schemas/lists.ts';
import { firstIdAt } from '../shared/text/ids.ts';
import { type auditLogQuery, toAuditEntry } from './schemas.ts';

/** The most entries that a page with an action looks through. If they don't fill the page, its cursor continues after them. */
const MAX_SCANNED = 5_000;

type Query = z.output<typeof auditLogQuery>;

/** Returns up to `limit + 1` entries of one database, and the last entry that it has looked at if there may be more. */
const readEntries = async (db: AccountDatabase | FirstDatabase, accountId: string, query: Query) => {
  const { limit, cursor, id, action, from, to } = query;
  const range = and(
    eq(auditLog.accountId, accountId),
    id === undefined ? undefined : eq(auditLog.id, id),
    from === undefined ? undefined : gte(auditLog.id, firstIdAt('aud', from)),
    to === undefined ? undefined : lt(auditLog.id, firstIdAt('aud', to)),
    cursor === undefined ? undefined : lt(auditLog.id, cursor),
  );
  const newest = db
    .select()
    .from(auditLog)
    .orderBy(desc(auditLog.id))
    .limit(limit + 1)
    .$dynamic();
  if (action === undefined) return { rows: await newest.where(range), lastId: '' };
  const last = db
    .select({ id: auditLog.id })
    .from(auditLog)
    .where(range)
    .orderBy(desc(auditLog.id))
    .limit(1)
    .offset(MAX_SCANNED - 1);
  const isScanned = gte(auditLog.id, sql`coalesce((${last}), '')`);
  const [rows, [scanned]] = await db.batch([
    newest.where(and(range, isScanned, eq(auditLog.action, action))),
    last,
  ]);
  return { rows, lastId: scanned?.id ?? '' };
};

/** Returns a page of the account's entries, newest first, from both databases that have some. */
export const listAuditLog = async ({ env, db, accountId }: Ctx, query: Query) => {
  const others = (await isInFirst(env, accountId)) ? [] : [db];
  const found = await Promise.all(
    [firstDatabase(env), ...others].map((from) => readEntries(from, accountId, query)),
  );
  const lastId =
    found
      .map((entries) => entries.lastId)
      .toSorted()
      .at(-1) ?? '';
  // While the account moves, an entry may be in both databases.
  const byId = new Map(found.flatMap((entries) => entries.rows).map((row) => [row.id, row]));
  // Beyond that, one of the databases has not looked.
  const rows = [...byId.values()].filter(({ id }) => id >= lastId).toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const page = toPage(rows, query.limit, toAuditEntry);
  return { ...page, next_cursor: page.next_cursor ?? (lastId || null) };
};
