import { and, asc, eq, exists, gt, inArray, lt, notExists, or, sql } from 'drizzle-orm';
import type { BatchResponse } from 'drizzle-orm/batch';
import type { AccountDatabase } from '../../db/client.ts';
import { accounts, apiKeys, feed, type FEED_KINDS, licenses, products } from '../../db/schema.ts';
import type { WebhookEvent } from '../../shared/text/events.ts';
import type { FeedPosition, Rows } from '../rules/rows.ts';
import { accountColumns, copiedKey, keyColumns, licenseColumns } from './load.ts';

// How a gate reads the feed of its account from D1: one round trip, which reads one consistent snapshot.

const FEED_PAGE = 500;

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
  const { appliedSeq, knownUntil } = position;
  const isUnread = and(isFeedOf(accountId), gt(feed.seq, appliedSeq));
  // A restored feed also has rows that the gate has followed. It reads past them, because it knows newer states of what they tell of.
  const isNew = and(isUnread, knownUntil === undefined ? undefined : gt(feed.createdAt, knownUntil));
  const unread = (kind: (typeof FEED_KINDS)[number]) => and(isNew, eq(feed.kind, kind));
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
      .select({ ...licenseColumns, kind: feed.kind })
      .from(feed)
      .innerJoin(licenses, and(eq(licenses.accountId, feed.accountId), eq(licenses.id, feed.ref)))
      .where(and(isNew, inArray(feed.kind, ['license', 'lifted'])))
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
      .where(and(isNew, isGone(db)))
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
  /** As in `FeedPosition`, like the next one. */
  movedAt?: number | undefined;
  knownUntil?: number | undefined;
  /** The position after this read, or null if there was nothing to read. */
  position: FeedPosition | null;
  rows: Rows;
  events: WebhookEvent[];
  more: boolean;
}

export const toFeedRead = (
  results: FeedResults,
  { appliedSeq, appliedAt, movedAt, knownUntil }: FeedPosition,
): FeedRead => {
  const [appliedRows, , entries, [account], keys, licenseRows, productRows, gone, events] = results;
  const last = entries.at(-1);
  const isRead = ({ seq }: { seq: number }) => seq <= (last?.seq ?? 0);
  const goneOf = (kind: (typeof FEED_KINDS)[number]) =>
    gone.filter((row) => isRead(row) && row.kind === kind).map(({ ref }) => ref);
  return {
    continues: appliedAt === null || appliedRows.length === 1,
    after: appliedSeq,
    movedAt,
    knownUntil,
    position: last ? { appliedSeq: last.seq, appliedAt: last.at } : null,
    rows: {
      account,
      keys: keys.map(copiedKey),
      licenses: licenseRows.map(({ kind, ...row }) => ({ ...row, isLifted: kind === 'lifted' })),
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
