import { and, asc, eq, exists, gt, isNull, lt, notExists, or, sql } from 'drizzle-orm';
import type { BatchResponse } from 'drizzle-orm/batch';
import type { AccountDatabase } from '../../db/client.ts';
import { accounts, apiKeys, feed, type FEED_KINDS, licenses, products } from '../../db/schema.ts';
import type { KeyScope } from '../../shared/rules/api-keys.ts';
import { candidateKeys } from '../../shared/rules/license-key.ts';
import type { ProductTerms } from '../../shared/rules/terms.ts';
import type { WebhookEvent } from '../../shared/text/events.ts';
import type { FeedPosition, Rows } from '../rules/rows.ts';

// How a gate reads its account from D1. Each function is one round trip and reads one consistent snapshot.

const FEED_PAGE = 500;
const LOAD_PAGE = 1_000;

const accountColumns = {
  email: accounts.email,
  homeRegion: accounts.homeRegion,
  plan: accounts.plan,
  periodStart: accounts.periodStart,
  periodEnd: accounts.periodEnd,
  planUntil: accounts.planUntil,
  grantedPlan: accounts.grantedPlan,
  grantedUntil: accounts.grantedUntil,
  suspendedAt: accounts.suspendedAt,
  eraseAt: accounts.eraseAt,
};
const keyColumns = {
  id: apiKeys.id,
  fingerprint: apiKeys.fingerprint,
  scope: apiKeys.scope,
  expiresAt: apiKeys.expiresAt,
  allowedIps: apiKeys.allowedIps,
  deletedAt: apiKeys.deletedAt,
};
const licenseColumns = {
  id: licenses.id,
  licenseKey: licenses.licenseKey,
  status: licenses.status,
  expiresAt: licenses.expiresAt,
  customerEmail: licenses.customerEmail,
  product: licenses.product,
  terms: licenses.terms,
  updatesUntil: licenses.updatesUntil,
};

interface KeyColumns {
  id: string;
  fingerprint: string;
  scope: KeyScope;
  expiresAt: number | null;
  allowedIps: string[] | null;
  deletedAt: number | null;
}

const copiedKey = ({ deletedAt, ...key }: KeyColumns) => ({ ...key, deleted: deletedAt !== null });

const isFeedOf = (accountId: string) => eq(feed.accountId, accountId);

/** The last applied row, which stays in D1 to prove that D1's history is still the one that the gate has followed. */
const isAppliedRow = (accountId: string, { appliedSeq, appliedAt }: FeedPosition) =>
  and(isFeedOf(accountId), eq(feed.seq, appliedSeq), eq(feed.createdAt, appliedAt ?? -1));

/** Whether a feed row's license no longer exists, or its key is no license's. Another change may have won over this one. */
const isGone = (db: AccountDatabase) => {
  const licenseWith = (column: typeof licenses.id | typeof licenses.licenseKey) =>
    db
      .select({ one: sql`1` })
      .from(licenses)
      .where(and(eq(licenses.accountId, feed.accountId), eq(column, feed.ref)));
  return or(
    and(eq(feed.kind, 'deleted'), notExists(licenseWith(licenses.id))),
    and(eq(feed.kind, 'erased'), notExists(licenseWith(licenses.licenseKey))),
  );
};

/**
 * Statements that delete the feed rows before the last applied one, and read the next ones with the current rows they
 * refer to. They can join the batch that commits a change. `toFeedRead` turns their results into a `FeedRead`.
 */
export const feedStatements = (db: AccountDatabase, accountId: string, position: FeedPosition) => {
  const { appliedSeq } = position;
  const isUnread = and(isFeedOf(accountId), gt(feed.seq, appliedSeq));
  const unread = (kind: (typeof FEED_KINDS)[number]) => and(isUnread, eq(feed.kind, kind));
  const appliedRow = db.select({ seq: feed.seq }).from(feed).where(isAppliedRow(accountId, position));
  return [
    appliedRow,
    db.delete(feed).where(and(isFeedOf(accountId), lt(feed.seq, appliedSeq), exists(appliedRow))),
    db
      .select({ seq: feed.seq, at: feed.createdAt })
      .from(feed)
      .where(isUnread)
      .orderBy(asc(feed.seq))
      .limit(FEED_PAGE),
    db.select(accountColumns).from(accounts).where(eq(accounts.id, accountId)),
    db
      .select(keyColumns)
      .from(feed)
      .innerJoin(apiKeys, and(eq(apiKeys.accountId, feed.accountId), eq(apiKeys.id, feed.ref)))
      .where(unread('key'))
      .orderBy(asc(feed.seq))
      .limit(FEED_PAGE),
    db
      .select(licenseColumns)
      .from(feed)
      .innerJoin(licenses, and(eq(licenses.accountId, feed.accountId), eq(licenses.id, feed.ref)))
      .where(unread('license'))
      .orderBy(asc(feed.seq))
      .limit(FEED_PAGE),
    db
      .select({ code: feed.ref, terms: products.terms })
      .from(feed)
      .leftJoin(products, and(eq(products.accountId, feed.accountId), eq(products.code, feed.ref)))
      .where(unread('product'))
      .orderBy(asc(feed.seq))
      .limit(FEED_PAGE),
    db
      .select({ seq: feed.seq, kind: feed.kind, ref: feed.ref })
      .from(feed)
      .where(and(isUnread, isGone(db)))
      .orderBy(asc(feed.seq))
      .limit(FEED_PAGE),
    db
      .select({ seq: feed.seq, event: feed.payload })
      .from(feed)
      .where(unread('event'))
      .orderBy(asc(feed.seq))
      .limit(FEED_PAGE),
  ] satisfies [unknown, ...unknown[]];
};

export type FeedStatements = ReturnType<typeof feedStatements>;
type FeedResults = BatchResponse<FeedStatements>;

/** What one read of the feed found, to be applied by the gate. */
export interface FeedRead {
  /** False if the last applied row is gone: D1 was restored to an earlier time. */
  continues: boolean;
  /** Where the read began. */
  after: number;
  /** The position after this read, or null if there was nothing to read. */
  position: FeedPosition | null;
  rows: Rows;
  events: WebhookEvent[];
  more: boolean;
}

export const toFeedRead = (results: FeedResults, { appliedSeq, appliedAt }: FeedPosition): FeedRead => {
  const [appliedRows, , entries, [account], keys, licenseRows, productRows, gone, events] = results;
  const last = entries.at(-1);
  const isRead = ({ seq }: { seq: number }) => seq <= (last?.seq ?? 0);
  const goneOf = (kind: (typeof FEED_KINDS)[number]) =>
    gone.filter((row) => isRead(row) && row.kind === kind).map(({ ref }) => ref);
  return {
    continues: appliedAt === null || appliedRows.length === 1,
    after: appliedSeq,
    position: last ? { appliedSeq: last.seq, appliedAt: last.at } : null,
    rows: {
      account,
      keys: keys.map(copiedKey),
      licenses: licenseRows,
      products: productRows,
      erasedKeys: goneOf('erased'),
      deletedLicenses: goneOf('deleted'),
    },
    events: events.filter(isRead).flatMap(({ event }) => (event ? [event] : [])),
    more: entries.length === FEED_PAGE,
  };
};

export const readFeed = async (
  db: AccountDatabase,
  accountId: string,
  position: FeedPosition,
): Promise<FeedRead> => toFeedRead(await db.batch(feedStatements(db, accountId, position)), position);

/** Reads the background load's next page. The first page brings all keys and products. */
export const readPage = async (db: AccountDatabase, accountId: string, afterLicenseId: string) => {
  const firstPageOnly = afterLicenseId === '' ? -1 : 0;
  const [[account], keys, licenseRows, productRows] = await db.batch([
    db.select(accountColumns).from(accounts).where(eq(accounts.id, accountId)),
    db
      .select(keyColumns)
      .from(apiKeys)
      .where(and(eq(apiKeys.accountId, accountId), isNull(apiKeys.deletedAt)))
      .limit(firstPageOnly),
    db
      .select(licenseColumns)
      .from(licenses)
      .where(and(eq(licenses.accountId, accountId), gt(licenses.id, afterLicenseId)))
      .orderBy(asc(licenses.id))
      .limit(LOAD_PAGE),
    db
      .select({ code: products.code, terms: products.terms })
      .from(products)
      .where(eq(products.accountId, accountId))
      .limit(firstPageOnly),
  ]);
  const rows: Rows = {
    account,
    keys: keys.map(copiedKey),
    licenses: licenseRows,
    products: productRows,
    erasedKeys: [],
    deletedLicenses: [],
  };
  return { rows, last: licenseRows.length < LOAD_PAGE };
};

/** Under a name of its own, because a batch returns rows by column name, and licenses have terms, too. */
const productTerms = sql<string | null>`${products.terms}`.as('product_terms');

/** Reads only the rows that one call needs. */
export const readThrough = async (
  db: AccountDatabase,
  accountId: string,
  keyId: string,
  licenseKey: string | null,
): Promise<Rows> => {
  const [[account], keys, ...found] = await db.batch([
    db.select(accountColumns).from(accounts).where(eq(accounts.id, accountId)),
    db
      .select(keyColumns)
      .from(apiKeys)
      .where(and(eq(apiKeys.accountId, accountId), eq(apiKeys.id, keyId))),
    ...(licenseKey === null ? [] : candidateKeys(licenseKey)).map((spelling) =>
      db
        .select({ license: licenseColumns, productTerms })
        .from(licenses)
        .leftJoin(
          products,
          and(eq(products.accountId, licenses.accountId), eq(products.code, licenses.product)),
        )
        .where(and(eq(licenses.accountId, accountId), eq(licenses.licenseKey, spelling))),
    ),
  ]);
  return {
    account,
    keys: keys.map(copiedKey),
    licenses: found.flat().map(({ license }) => license),
    products: found.flat().flatMap(({ license: { product }, productTerms: terms }) => {
      if (product === null) return [];
      return [{ code: product, terms: terms === null ? null : (JSON.parse(terms) as ProductTerms) }];
    }),
    erasedKeys: [],
    deletedLicenses: [],
  };
};
