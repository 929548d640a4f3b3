import { sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { DatabaseCtx } from '../../db/ctx.ts';
import { deletePosition, type Due, findPositions, savePosition } from '../../db/positions.ts';
import { offers, purchaseMails, purchases, storeMessages, stores } from '../../db/schema.ts';
import type { StoreHint } from '../work-hint.ts';

// Hints at the accounts with messages, purchases, offers, emails, or checks that are due, those that have waited longest first. An
// account may have many rows, so a run reads many pages of them, and the next one goes on after the last.

const PAGE_ROWS = 1_000;
/** The most pages of each kind in a run. With five kinds, that is a tenth of the 1,000 queries that D1 allows a message. */
const MAX_PAGES = 20;
/** Queues take so many messages at once. */
const MAX_BATCH = 100;

interface Kind {
  name: string;
  dueAt: SQLiteColumn;
}

const KINDS: Kind[] = [
  { name: 'hint_messages', dueAt: storeMessages.readAt },
  { name: 'hint_purchases', dueAt: purchases.decideAt },
  { name: 'hint_offers', dueAt: offers.decideAt },
  { name: 'hint_mails', dueAt: purchaseMails.dueAt },
  { name: 'hint_checks', dueAt: stores.checkAt },
];

type Position = Omit<Due, 'id'>;

const FIRST: Position = { dueMs: 0, row: 0 };

/** The accounts of the kind's due rows, each once, as many as a run may read. */
const findDue = async (
  { db }: DatabaseCtx,
  { name, dueAt }: Kind,
  stored: Position | undefined,
  nowMs: number,
): Promise<string[]> => {
  let after = stored ?? FIRST;
  const found = new Set<string>();
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const rows = await db.all<Due>(sql`
      SELECT account_id AS id, ${dueAt} AS dueMs, rowid AS row FROM ${dueAt.table}
      WHERE ${dueAt} <= ${nowMs} AND (${dueAt}, rowid) > (${after.dueMs}, ${after.row})
      ORDER BY ${dueAt}, rowid LIMIT ${PAGE_ROWS}`);
    for (const { id } of rows) found.add(id);
    const last = rows.length === PAGE_ROWS ? rows.at(-1) : undefined;
    if (!last) {
      if (stored) await deletePosition(db, name);
      return [...found];
    }
    after = { dueMs: last.dueMs, row: last.row };
  }
  await savePosition(db, name, after);
  return [...found];
};

/** Lets the queue work on what is due for stores. */
export const hintStores = async (ctx: DatabaseCtx): Promise<void> => {
  const nowMs = Date.now();
  const found = new Set<string>();
  const positions = await findPositions<Position>(
    ctx.db,
    KINDS.map(({ name }) => name),
  );
  for (const kind of KINDS)
    for (const id of await findDue(ctx, kind, positions.get(kind.name), nowMs)) found.add(id);
  const due = [...found];
  for (let i = 0; i < due.length; i += MAX_BATCH) {
    const messages = due.slice(i, i + MAX_BATCH).map((id) => ({
      body: { account_id: id, work: 'stores' } satisfies StoreHint,
    }));
    await ctx.env.WEBHOOKS.sendBatch(messages);
  }
};
