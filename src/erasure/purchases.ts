import { and, eq, gt, isNotNull, type SQL, sql, type SQLWrapper } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { inJson } from '../db/json-rows.ts';
import {
  type PurchaseFactRow,
  purchaseFacts,
  purchaseMails,
  purchases,
  storeMessages,
} from '../db/schema.ts';
import { wasRead } from '../purchases/bodies.ts';
import type { Buyer, StoreFact } from '../purchases/rules/facts.ts';
import { ERASED_EMAIL } from '../shared/rules/licenses.ts';
import { openScrubber, type Person } from '../shared/text/scrub.ts';
import type { SpendQueries } from './find-licenses.ts';
import { changeAll, PAGE_ROWS } from './pages.ts';
import { scrubStoreTexts } from './store-texts.ts';

// Erases a customer from what stores have reported. Their purchases and the facts of them stay, without the person, and are
// marked, so that a later copy of a fact brings nobody back. Whoever buys again later is another customer.

type FactOfRow = Pick<PurchaseFactRow, 'fact' | 'isErased' | 'takenAt'> & {
  row: number;
  /** The fact as it was read. */
  was: string;
};

/** Returns a function that takes the person out of a fact, and marks it if its buyer is that person. Another buyer stays. */
const openFactScrubber = (person: Person) => {
  const { scrub } = openScrubber(person);
  const withoutAddress = openScrubber({ ...person, names: [] }).scrub;
  const isTheirs = (buyer: Buyer | undefined) => buyer?.email?.toLowerCase() === person.email;

  const withoutPerson = (fact: StoreFact): object => {
    if (fact.kind === 'buyer') {
      if (!isTheirs(fact)) return withoutAddress(fact);
      const { name: _, ...nobody } = fact;
      return scrub({ ...nobody, email: '' });
    }
    if (!('buyer' in fact)) return scrub(fact);
    const { buyer, ...nobody } = fact;
    return isTheirs(buyer) ? scrub(nobody) : { ...scrub(nobody), buyer: withoutAddress(buyer) };
  };

  return (row: FactOfRow): FactOfRow => {
    const fact = JSON.parse(row.fact) as StoreFact;
    // A longer address may contain this one.
    if (JSON.stringify(withoutAddress(fact)) === JSON.stringify(fact)) return row;
    const buyer = fact.kind === 'buyer' ? fact : 'buyer' in fact ? fact.buyer : undefined;
    return {
      ...row,
      fact: JSON.stringify(withoutPerson(fact)),
      isErased: row.isErased || isTheirs(buyer),
      takenAt: fact.kind === 'buyer' && isTheirs(fact) ? Date.now() : row.takenAt,
    };
  };
};

/** Whether a fact's number of the order has the address of its purchase. */
const namesAddress = sql`instr(lower(fact ->> '$.number'),
  (SELECT lower(customer_email) FROM purchases WHERE id = purchase_facts.purchase_id))`;

/** What the store has told of its customer, whose address may be an earlier one, unless a purchase of somebody else needs it. */
const isTheirBuyer = (theirs: SQLWrapper, isTheirs: SQL | undefined) => sql`
  (store_id, name) IN (SELECT store_id, buyer_ref || ' buyer' FROM purchases WHERE ${isTheirs} AND buyer_ref IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM purchases AS other WHERE other.store_id = purchase_facts.store_id
    AND other.buyer_ref = substr(purchase_facts.name, 1, length(purchase_facts.name) - length(' buyer'))
    AND other.id NOT IN ${theirs})`;

/** Marks the customer's purchases. */
const markPurchases = async ({ db, accountId }: Ctx, areTheirs: SQL): Promise<void> => {
  const isTheirs = and(eq(purchases.accountId, accountId), areTheirs);
  const theirs = db.select({ id: purchases.id }).from(purchases).where(isTheirs);
  const version = sql`version + 1`;
  await db.batch([
    db
      .update(purchaseMails)
      .set({ dueAt: null, problem: 'erased' })
      .where(and(isNotNull(purchaseMails.dueAt), sql`${purchaseMails.purchaseId} IN ${theirs}`)),
    db
      .update(storeMessages)
      .set({ body: null })
      .where(
        and(
          sql`${storeMessages.id} IN (SELECT message_id FROM purchase_messages WHERE purchase_id IN ${theirs})`,
          wasRead,
        ),
      ),
    db
      .update(purchaseFacts)
      .set({
        fact: sql`json_set(json_remove(fact, '$.name'), '$.email', '')`,
        isErased: true,
        takenAt: Date.now(),
      })
      .where(isTheirBuyer(theirs, isTheirs)),
    db
      .update(purchaseFacts)
      .set({
        fact: sql`json_remove(fact, '$.buyer', iif(${namesAddress}, '$.number', '$.buyer'))`,
        isErased: true,
      })
      .where(sql`${purchaseFacts.purchaseId} IN ${theirs}`),
    db
      .update(purchases)
      .set({
        customerEmail: null,
        customerName: null,
        buyerRef: null,
        orderNumber: sql`iif(instr(lower(order_number), lower(customer_email)), NULL, order_number)`,
        isErased: true,
        version,
      })
      .where(isTheirs),
    // Nobody knows whom a body is about that was read, and not taken into a purchase. One that waits is a sale yet to come.
    db
      .update(storeMessages)
      .set({ body: null })
      .where(
        and(
          eq(storeMessages.accountId, accountId),
          isNotNull(storeMessages.body),
          wasRead,
          sql`NOT EXISTS (SELECT 1 FROM purchase_messages WHERE message_id = store_messages.id)`,
        ),
      ),
  ]);
};

/** Takes the person out of the facts that name them. */
const scrubFacts = ({ db, accountId }: Ctx, person: Person, spend: SpendQueries): Promise<void> => {
  const row = sql<number>`${purchaseFacts}.rowid`;
  return changeAll<FactOfRow>(spend, {
    // In the order of the index on the account, which ends with the rows' numbers.
    read: (last) =>
      db
        .select({
          row,
          was: purchaseFacts.fact,
          fact: purchaseFacts.fact,
          isErased: purchaseFacts.isErased,
          takenAt: purchaseFacts.takenAt,
        })
        .from(purchaseFacts)
        .where(
          and(
            eq(purchaseFacts.accountId, accountId),
            gt(row, last?.row ?? 0),
            sql`instr(lower(${purchaseFacts.fact}), ${person.email})`,
          ),
        )
        .orderBy(row)
        .limit(PAGE_ROWS),
    change: openFactScrubber(person),
    save: (rows) =>
      db
        .update(purchaseFacts)
        .set({
          fact: sql`value ->> 'fact'`,
          isErased: sql`max(is_erased, value ->> 'isErased')`,
          takenAt: sql`value ->> 'takenAt'`,
        })
        .from(sql`json_each(${rows})`)
        .where(
          sql`purchase_facts.rowid = value ->> 'row' AND +purchase_facts.account_id = ${accountId}
            AND purchase_facts.fact = value ->> 'was'`,
        )
        .returning({ name: purchaseFacts.name }),
  });
};

/**
 * Erases the customer from the purchases of their licenses, whatever address the store has told: it may have been corrected since,
 * or changed. Not if another license of the purchase is somebody else's.
 */
export const erasePurchasesOf = async (
  ctx: Ctx,
  email: string,
  licenseIds: string[],
  spend: SpendQueries,
): Promise<void> => {
  spend(6);
  const bought = sql`SELECT purchase_id FROM purchase_licenses
    WHERE account_id = ${ctx.accountId} AND license_id ${inJson(licenseIds)}`;
  const isShared = sql`EXISTS (
    SELECT 1 FROM purchase_licenses AS held CROSS JOIN licenses AS other
      ON other.account_id = ${ctx.accountId} AND other.id = held.license_id
    WHERE held.purchase_id = purchases.id AND lower(other.customer_email) NOT IN (${email}, ${ERASED_EMAIL}))`;
  await markPurchases(ctx, sql`id IN (${bought}) AND NOT ${isShared}`);
};

/** Erases the customer from purchases, and what is kept of their messages. */
export const erasePurchases = async (ctx: Ctx, person: Person, spend: SpendQueries): Promise<void> => {
  spend(8);
  await markPurchases(ctx, sql`lower(customer_email) = ${person.email}`);
  await scrubFacts(ctx, person, spend);
  await scrubStoreTexts(ctx, person.email, spend);
};
