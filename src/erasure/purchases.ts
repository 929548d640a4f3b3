import { and, eq, gt, isNotNull, type SQL, sql, type SQLWrapper } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { inJson } from '../db/json-rows.ts';
import {
  offers,
  productMails,
  type PurchaseFactRow,
  purchaseFacts,
  purchaseLicenses,
  purchaseMails,
  purchases,
  storeMessages,
  stores,
} from '../db/schema.ts';
import { wasRead } from '../purchases/bodies.ts';
import type { Buyer, StoreFact } from '../purchases/rules/facts.ts';
import { ERASED_EMAIL } from '../shared/rules/licenses.ts';
import { openScrubber, type Person } from '../shared/text/scrub.ts';
import type { SpendQueries } from './find-licenses.ts';

// Erases a customer from what stores have reported. Their purchases and the facts of them stay, without the person, and are
// marked, so that a later copy of a fact brings nobody back.

/** Facts that a query returns. */
const MAX_FACTS = 200;

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

  return <T extends Pick<PurchaseFactRow, 'fact' | 'isErased'>>(row: T): T => {
    const fact = JSON.parse(row.fact) as StoreFact;
    // A longer address may contain this one.
    if (JSON.stringify(withoutAddress(fact)) === JSON.stringify(fact)) return row;
    const buyer = fact.kind === 'buyer' ? fact : 'buyer' in fact ? fact.buyer : undefined;
    return {
      ...row,
      fact: JSON.stringify(withoutPerson(fact)),
      isErased: row.isErased || isTheirs(buyer),
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
      .set({ fact: sql`json_set(json_remove(fact, '$.name'), '$.email', '')`, isErased: true })
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

/** Takes the person out of the facts that name them. Each is read once: what is part of a longer address stays in it. */
const scrubFacts = async ({ db, accountId }: Ctx, person: Person, spend: SpendQueries): Promise<void> => {
  const withoutPerson = openFactScrubber(person);
  const row = sql<number>`${purchaseFacts}.rowid`;
  for (let after = 0; ;) {
    spend(2);
    // In the order of the index on the account, which ends with the rows' numbers.
    const rows = await db
      .select({ row, fact: purchaseFacts.fact, isErased: purchaseFacts.isErased })
      .from(purchaseFacts)
      .where(
        and(
          eq(purchaseFacts.accountId, accountId),
          gt(row, after),
          sql`instr(lower(${purchaseFacts.fact}), ${person.email})`,
        ),
      )
      .orderBy(row)
      .limit(MAX_FACTS);
    const changed = rows.map(withoutPerson).filter((scrubbed, i) => scrubbed !== rows[i]);
    if (changed.length > 0)
      await db
        .update(purchaseFacts)
        .set({ fact: sql`value ->> 'fact'`, isErased: sql`value ->> 'isErased'` })
        .from(sql`json_each(${JSON.stringify(changed)})`)
        .where(sql`purchase_facts.rowid = value ->> 'row' AND +purchase_facts.account_id = ${accountId}`);
    const last = rows.at(-1);
    if (!last || rows.length < MAX_FACTS) return;
    after = last.row;
  }
};

/** Takes the address out of what the seller has named. */
const scrubStores = async ({ db, accountId }: Ctx, { email }: Person): Promise<void> => {
  const { scrub } = openScrubber({ email, names: [] });
  const { product, fromName, intro, supportUrl } = productMails;
  const [texts, named, sold, held] = await db.batch([
    db
      .select({ product, fromName, intro, supportUrl })
      .from(productMails)
      .where(
        and(
          eq(productMails.accountId, accountId),
          sql`instr(lower(concat_ws(' ', ${fromName}, ${intro}, ${supportUrl})), ${email})`,
        ),
      )
      .limit(MAX_FACTS),
    db
      .select({ id: stores.id, name: stores.name })
      .from(stores)
      .where(and(eq(stores.accountId, accountId), sql`instr(lower(${stores.name}), ${email})`)),
    db
      .select({ storeId: offers.storeId, ref: offers.ref, terms: offers.terms })
      .from(offers)
      .where(and(eq(offers.accountId, accountId), sql`instr(lower(${offers.terms}), ${email})`))
      .limit(MAX_FACTS),
    db
      .select({ licenseId: purchaseLicenses.licenseId, offer: purchaseLicenses.offer })
      .from(purchaseLicenses)
      .where(
        and(
          eq(purchaseLicenses.accountId, accountId),
          sql`instr(lower(${purchaseLicenses.offer}), ${email})`,
        ),
      )
      .limit(MAX_FACTS),
  ]);
  const [first, ...others] = [
    ...texts.map(({ product: code, ...said }) =>
      db
        .update(productMails)
        .set(scrub(said))
        .where(and(eq(productMails.accountId, accountId), eq(productMails.product, code))),
    ),
    ...held.map(({ licenseId, offer }) =>
      db
        .update(purchaseLicenses)
        .set({ offer: scrub(offer) })
        .where(and(eq(purchaseLicenses.accountId, accountId), eq(purchaseLicenses.licenseId, licenseId))),
    ),
    ...named.map(({ id, name }) =>
      db
        .update(stores)
        .set({ name: scrub(name) })
        .where(eq(stores.id, id)),
    ),
    ...sold.map(({ storeId, ref, terms }) =>
      db
        .update(offers)
        .set({ terms: scrub(terms) })
        .where(and(eq(offers.storeId, storeId), eq(offers.ref, ref))),
    ),
  ];
  if (first) await db.batch([first, ...others]);
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
  spend(3);
  await scrubStores(ctx, person);
};
