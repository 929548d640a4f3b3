import { eq, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { jsonValues } from '../db/json-rows.ts';
import {
  licenseTotals,
  purchaseFacts,
  purchaseLicenses,
  type PurchaseLicenseRow,
  purchaseMessages,
  type PurchaseRow,
  purchases,
  purchaseThings,
} from '../db/schema.ts';
import { selectRow } from '../db/select-row.ts';
import { eventChange, type FeedChange, type Statement } from '../gate/feed/write.ts';
import { commit } from '../gate/worker/commit.ts';
import { type AwaitedOffer, decideAtOf, waitsForOffer, writeAwaited } from './awaited-offers.ts';
import { writeMail } from './due-mail.ts';
import { eventsOf } from './events.ts';
import { updateHeld } from './held-license.ts';
import type { StoredFact, Surroundings } from './load.ts';
import { merge } from './merge.ts';
import { insertLicenses, type NewLicense, newLicenses } from './new-license.ts';
import type { PurchaseDecision } from './rules/decide.ts';
import type { Thing } from './rules/facts.ts';
import { decideIfTold } from './told-address.ts';

// What was decided of a purchase is one commit: its facts, its licenses, their feed rows and events, and the mail that is due.

export interface ToCommit {
  /** The purchase as it was read, or a new one with version 0. */
  row: PurchaseRow;
  /** Purchases that turn out to be the same one. */
  others: PurchaseRow[];
  fresh: StoredFact[];
  /** Those that no purchase is known by. */
  things: Thing[];
  /** In their places, also those of the others. */
  held: PurchaseLicenseRow[];
  /** Whether an email with keys was sent, or is to be. */
  isMailed: boolean;
  around: Surroundings;
  decision: PurchaseDecision;
  /** The offers that it waits for, as they were read. */
  awaited: AwaitedOffer[];
  messageId: string | null;
  nowMs: number;
}

/** Fails the batch unless the purchase is as it was read. */
const guard = ({ db, accountId }: Ctx, { id, version }: PurchaseRow): Statement =>
  db
    .update(licenseTotals)
    .set({
      licenses: sql`iif(EXISTS (SELECT 1 FROM purchases WHERE id = ${id} AND version = ${version}), licenses, NULL)`,
    })
    .where(eq(licenseTotals.accountId, accountId));

const writeFacts = (ctx: Ctx, { row, fresh, things, messageId }: ToCommit): Statement[] => {
  const { db, accountId } = ctx;
  const owned = { accountId, storeId: row.storeId, purchaseId: row.id };
  const facts = fresh.map(({ name, fact, takenAtMs, isErased }) => ({
    name,
    fact: JSON.stringify(fact),
    takenAt: takenAtMs,
    isErased: Number(isErased),
  }));
  const found = things.map((thing) => ({ thing, ref: thing.slice(thing.indexOf('/') + 1) }));
  const factRow = selectRow(purchaseFacts, {
    ...owned,
    ...jsonValues('name', 'fact', 'takenAt', 'isErased'),
  });
  const thingRow = selectRow(purchaseThings, { ...owned, ...jsonValues('thing', 'ref') });
  return [
    ...(found.length > 0
      ? [db.insert(purchaseThings).select(sql`${thingRow} FROM json_each(${JSON.stringify(found)})`)]
      : []),
    ...(facts.length > 0
      ? [
          db
            .insert(purchaseFacts)
            .select(sql`${factRow} FROM json_each(${JSON.stringify(facts)}) WHERE true`)
            .onConflictDoUpdate({
              target: [purchaseFacts.storeId, purchaseFacts.name],
              set: { fact: sql`excluded.fact`, purchaseId: row.id },
            }),
        ]
      : []),
    ...(messageId === null
      ? []
      : [
          db
            .insert(purchaseMessages)
            .values({ accountId, purchaseId: row.id, messageId })
            .onConflictDoNothing(),
        ]),
  ];
};

/** When to decide it again: never once its store is deleted, even if that happened after the store was read. */
const nextDecisionAt = ({ row, decision, awaited, nowMs }: ToCommit) => {
  const dueAt = awaited.length > 0 ? decideAtOf(row, awaited, nowMs) : row.decideAt;
  const decideAt = decideIfTold(row, decision, dueAt, nowMs);
  return sql<number | null>`iif(EXISTS (SELECT 1 FROM stores WHERE id = ${row.storeId}), ${decideAt}, NULL)`;
};

const writeRow = ({ db }: Ctx, wanted: ToCommit): Statement => {
  const { row, decision, nowMs } = wanted;
  const person = row.isErased
    ? { customerEmail: null, customerName: null, buyerRef: null }
    : { customerEmail: decision.email, customerName: decision.name, buyerRef: decision.buyerRef };
  const values = {
    ...row,
    ...person,
    status: decision.status,
    reason: decision.reason,
    orderNumber: decision.orderNumber,
    isTest: decision.isTest,
    decideAt: nextDecisionAt(wanted),
    version: row.version + 1,
    updatedAt: nowMs,
  };
  if (row.version === 0) return db.insert(purchases).values(values);
  return db.update(purchases).set(values).where(eq(purchases.id, row.id));
};

const insertHeld = ({ db, accountId }: Ctx, purchaseId: string, made: NewLicense[]): Statement[] => {
  if (made.length === 0) return [];
  const rows = made.map(({ slot, number, license }) => ({
    slot: slot.slot,
    number,
    licenseId: license.id,
    wanted: JSON.stringify(slot.wanted),
    offer: JSON.stringify(slot.offer),
  }));
  const row = selectRow(purchaseLicenses, {
    accountId,
    purchaseId,
    ...jsonValues('slot', 'number', 'licenseId', 'wanted', 'offer'),
    setStatus: null,
    returnsTo: null,
  });
  return [db.insert(purchaseLicenses).select(sql`${row} FROM json_each(${JSON.stringify(rows)})`)];
};

/** Returns about how many queries it has made. */
export const commitPurchase = async (ctx: Ctx, wanted: ToCommit): Promise<number> => {
  const { row, others, held, around, nowMs } = wanted;
  const decision = row.isErased ? { ...wanted.decision, email: null, name: null } : wanted.decision;
  const isHeld = (slot: number, number: number) =>
    held.some((one) => one.slot === slot && one.number === number);
  const made = newLicenses(decision, isHeld, around.terms, nowMs);
  const updates = updateHeld(ctx, row.id, held, around.licenses, decision, nowMs);
  const inserts = insertLicenses(ctx, made, nowMs);
  const events = eventsOf({ ...wanted, decision }, made);
  const hasAwaited = [wanted.decision, row, ...others].some(waitsForOffer);
  const statements: Statement[] = [
    ...[row, ...others].filter(({ version }) => version > 0).map((read) => guard(ctx, read)),
    ...merge(ctx, row.id, others, held, decision),
    writeRow(ctx, { ...wanted, decision }),
    ...writeFacts(ctx, wanted),
    ...(hasAwaited ? writeAwaited(ctx, row, wanted.awaited) : []),
    ...updates.statements,
    ...inserts.statements,
    ...insertHeld(ctx, row.id, made),
    ...writeMail(ctx, { ...wanted, decision }, made),
  ];
  const changes: FeedChange[] = [...updates.changes, ...inserts.changes, ...events.map(eventChange)];
  const [first, ...more] = changes;
  const [start, ...rest] = statements;
  if (first && start)
    await commit(ctx, [start, ...rest], [first, ...more], { isBeyondLimits: made.length === 0 });
  else if (start) await ctx.db.batch([start, ...rest]);
  return statements.length + 20;
};
