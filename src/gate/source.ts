import { and, asc, eq, gt, isNull, lte } from 'drizzle-orm';
import type { Database } from '../db/client.ts';
import { accounts, apiKeys, feed, type FEED_KINDS, licenses } from '../db/schema.ts';
import type { KeyScope } from '../shared/rules/api-keys.ts';
import { candidateKeys } from '../shared/rules/license-key.ts';
import type { Rows } from './copy.ts';

// How a gate reads its account from D1. Each function is one round trip and reads one consistent snapshot.

const FEED_PAGE = 500;
const LOAD_PAGE = 1_000;

const accountColumns = {
  plan: accounts.plan,
  periodStart: accounts.periodStart,
  periodEnd: accounts.periodEnd,
  planUntil: accounts.planUntil,
};
const keyColumns = {
  id: apiKeys.id,
  fingerprint: apiKeys.fingerprint,
  scope: apiKeys.scope,
  expiresAt: apiKeys.expiresAt,
  deletedAt: apiKeys.deletedAt,
};
const licenseColumns = {
  id: licenses.id,
  licenseKey: licenses.licenseKey,
  status: licenses.status,
  expiresAt: licenses.expiresAt,
  customerEmail: licenses.customerEmail,
};

interface KeyColumns {
  id: string;
  fingerprint: string;
  scope: KeyScope;
  expiresAt: number | null;
  deletedAt: number | null;
}

const copiedKey = ({ deletedAt, ...key }: KeyColumns) => ({ ...key, deleted: deletedAt !== null });

/** Deletes the feed rows that have been applied, and reads the next ones with the current rows they refer to. */
export const readFeed = async (db: Database, accountId: string, appliedSeq: number) => {
  const unread = (kind: (typeof FEED_KINDS)[number]) =>
    and(eq(feed.accountId, accountId), eq(feed.kind, kind), gt(feed.seq, appliedSeq));
  const [, entries, [account], keys, licenseRows, events] = await db.batch([
    db.delete(feed).where(and(eq(feed.accountId, accountId), lte(feed.seq, appliedSeq))),
    db
      .select({ seq: feed.seq })
      .from(feed)
      .where(and(eq(feed.accountId, accountId), gt(feed.seq, appliedSeq)))
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
      .select({ seq: feed.seq, event: feed.payload })
      .from(feed)
      .where(unread('event'))
      .orderBy(asc(feed.seq))
      .limit(FEED_PAGE),
  ]);
  const rows: Rows = { account, keys: keys.map(copiedKey), licenses: licenseRows };
  const lastSeq = entries.at(-1)?.seq ?? null;
  return {
    rows,
    events: events.flatMap(({ seq, event }) => (event && seq <= (lastSeq ?? 0) ? [event] : [])),
    lastSeq,
    more: entries.length === FEED_PAGE,
  };
};

/** Reads the background load's next page. The first page brings all keys. */
export const readPage = async (db: Database, accountId: string, afterLicenseId: string) => {
  const [[account], keys, licenseRows] = await db.batch([
    db.select(accountColumns).from(accounts).where(eq(accounts.id, accountId)),
    db
      .select(keyColumns)
      .from(apiKeys)
      .where(and(eq(apiKeys.accountId, accountId), isNull(apiKeys.deletedAt)))
      .limit(afterLicenseId === '' ? -1 : 0),
    db
      .select(licenseColumns)
      .from(licenses)
      .where(and(eq(licenses.accountId, accountId), gt(licenses.id, afterLicenseId)))
      .orderBy(asc(licenses.id))
      .limit(LOAD_PAGE),
  ]);
  const rows: Rows = { account, keys: keys.map(copiedKey), licenses: licenseRows };
  return { rows, last: licenseRows.length < LOAD_PAGE };
};

/** Reads only the rows that one call needs. */
export const readThrough = async (
  db: Database,
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
        .select(licenseColumns)
        .from(licenses)
        .where(and(eq(licenses.accountId, accountId), eq(licenses.licenseKey, spelling))),
    ),
  ]);
  return { account, keys: keys.map(copiedKey), licenses: found.flat() };
};
