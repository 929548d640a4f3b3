import { and, asc, eq, lte, sql } from 'drizzle-orm';
import type { Ctx, DatabaseCtx } from '../db/ctx.ts';
import { jsonChunks } from '../db/json-rows.ts';
import { type ErasureRow, erasures, feed } from '../db/schema.ts';
import { logError } from '../shared/log.ts';
import { gateOf, outboxOf } from '../shared/objects.ts';
import { SYSTEM } from '../shared/rules/audit.ts';
import { eraseCustomerRows } from './customer-rows.ts';

// Erases what the table `erasures` lists: first from D1, then along the way of the events, from the gate and its branches
// before the outbox. Each step can be repeated. A row goes once everything is gone that it stands for.

/** The most rows of each kind that are taken at once. */
const MAX_ROWS = 500;
/** The most accounts that a run of the scheduled work finishes. The next run continues. */
const MAX_ACCOUNTS = 20;

/** How many licenses, activations, and events the erased person was in. */
export interface Erased {
  licenses: number;
  activations: number;
  events: number;
}

const list = ({ db, accountId }: Ctx, kind: ErasureRow['kind']) =>
  db
    .select()
    .from(erasures)
    .where(and(eq(erasures.accountId, accountId), eq(erasures.kind, kind)))
    .limit(MAX_ROWS);

/** A row that was changed in the meantime stays. */
const remove = async ({ db, accountId }: Ctx, rows: ErasureRow[]): Promise<void> => {
  for (const json of jsonChunks(rows)) {
    const isRow = sql`(kind, subject, until_ms) IN
      (SELECT value ->> 'kind', value ->> 'subject', value ->> 'untilMs' FROM json_each(${json}))`;
    await db.delete(erasures).where(and(eq(erasures.accountId, accountId), isRow));
  }
};

const eraseFromObjects = async (ctx: Ctx): Promise<number> => {
  const { env, db, accountId } = ctx;
  // The last row that a gate has applied stays in the feed, and this one names nobody.
  await db.insert(feed).values({ accountId, kind: 'account', ref: accountId, createdAt: Date.now() });
  let activations = 0;
  for (let isLast = false; !isLast;) {
    const machines = await list(ctx, 'machines');
    const seats = machines.map(({ subject, untilMs }) => ({ licenseId: subject, untilMs }));
    activations += await gateOf(env, accountId).eraseTraces(seats);
    await remove(ctx, machines);
    isLast = machines.length < MAX_ROWS;
  }
  return activations;
};

const eraseEvents = async ({ env, accountId }: Ctx, licenseIds: string[], emails: string[]) => {
  let events = 0;
  if (licenseIds.length + emails.length === 0) return events;
  for (let after: string | null = ''; after !== null;) {
    const page = await outboxOf(env, accountId).eraseEvents({ licenseIds, emails }, after);
    events += page.events;
    after = page.next;
  }
  return events;
};

export const finishErasures = async (ctx: Ctx): Promise<Erased> => {
  const customers = await list(ctx, 'customer');
  const deleted = await list(ctx, 'license');
  if (customers.length + deleted.length === 0 && (await list(ctx, 'machines')).length === 0)
    return { licenses: 0, activations: 0, events: 0 };
  const subjectsOf = (rows: ErasureRow[]) => rows.map(({ subject }) => subject);
  let licenses = 0;
  for (const email of subjectsOf(customers)) licenses += await eraseCustomerRows(ctx, email);
  const activations = await eraseFromObjects(ctx);
  const events = await eraseEvents(ctx, subjectsOf(deleted), subjectsOf(customers));
  await remove(ctx, [...customers, ...deleted]);
  return { licenses, activations, events };
};

/** Finishes erasures that were cut off. */
export const finishDueErasures = async (ctx: DatabaseCtx): Promise<void> => {
  const due = await ctx.db
    .select({ accountId: erasures.accountId })
    .from(erasures)
    .where(lte(erasures.createdAt, Date.now()))
    .orderBy(asc(erasures.createdAt))
    .limit(MAX_ROWS);
  let finished = 0;
  for (const accountId of new Set(due.map((row) => row.accountId))) {
    if (finished === MAX_ACCOUNTS) return;
    try {
      await finishErasures({ ...ctx, accountId, key: null, actor: SYSTEM, ip: null });
      finished++;
    } catch (error) {
      logError('erasure_not_finished', error, { account_id: accountId });
    }
  }
};
