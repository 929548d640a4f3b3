import { and, asc, eq, gt, isNull, sql } from 'drizzle-orm';
import type { AccountDatabase } from '../../db/client.ts';
import { accounts, apiKeys, licenses, products } from '../../db/schema.ts';
import type { KeyScope } from '../../shared/rules/api-keys.ts';
import { candidateKeys } from '../../shared/rules/license-key.ts';
import type { ProductTerms } from '../../shared/rules/terms.ts';
import type { Rows } from '../rules/rows.ts';

// How a gate reads the rows of its account from D1: a page of a load, or what one call needs. Each function is one round trip
// and reads one consistent snapshot.

// The columns of D1 that a gate copies.

export const accountColumns = {
  email: accounts.email,
  homeRegion: accounts.homeRegion,
  isUnverified: accounts.isUnverified,
  plan: accounts.plan,
  periodStart: accounts.periodStart,
  periodEnd: accounts.periodEnd,
  planUntil: accounts.planUntil,
  grantedPlan: accounts.grantedPlan,
  grantedUntil: accounts.grantedUntil,
  suspendedAt: accounts.suspendedAt,
  eraseAt: accounts.eraseAt,
};
export const keyColumns = {
  id: apiKeys.id,
  fingerprint: apiKeys.fingerprint,
  scope: apiKeys.scope,
  expiresAt: apiKeys.expiresAt,
  allowedIps: apiKeys.allowedIps,
  deletedAt: apiKeys.deletedAt,
};
export const licenseColumns = {
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

export const copiedKey = ({ deletedAt, ...key }: KeyColumns) => ({ ...key, deleted: deletedAt !== null });

const LOAD_PAGE = 1_000;
/** A key with 32 addresses, or a product with many terms, has a few KiB. */
const LIST_PAGE = 500;

/** The last key and the last product that a load has read. They come before the licenses. */
export interface ListPosition {
  key: string;
  product: string;
}

/**
 * Reads the background load's next page. The first one has the keys, the products, and the first licenses, unless there are
 * more keys or products than fit: then they fill pages of their own. `lists` is null once all of them are read.
 */
export const readPage = async (
  db: AccountDatabase,
  accountId: string,
  afterLicenseId: string,
  { key, product }: ListPosition,
) => {
  const listPage = afterLicenseId === '' ? LIST_PAGE : 0;
  const [[account], keys, productRows, licenseRows] = await db.batch([
    db.select(accountColumns).from(accounts).where(eq(accounts.id, accountId)),
    db
      .select(keyColumns)
      .from(apiKeys)
      .where(and(eq(apiKeys.accountId, accountId), gt(apiKeys.id, key), isNull(apiKeys.deletedAt)))
      .orderBy(asc(apiKeys.id))
      .limit(listPage),
    db
      .select({ code: products.code, terms: products.terms })
      .from(products)
      .where(and(eq(products.accountId, accountId), gt(products.code, product)))
      .orderBy(asc(products.code))
      .limit(listPage),
    db
      .select(licenseColumns)
      .from(licenses)
      .where(and(eq(licenses.accountId, accountId), gt(licenses.id, afterLicenseId)))
      .orderBy(asc(licenses.id))
      .limit(LOAD_PAGE),
  ]);
  const isListFull = [keys, productRows].some(({ length }) => length > 0 && length === listPage);
  const rows: Rows = {
    account,
    keys: keys.map(copiedKey),
    licenses: isListFull ? [] : licenseRows,
    products: productRows,
    erasedKeys: [],
    deletedLicenses: [],
  };
  return {
    rows,
    lists: isListFull ? { key: keys.at(-1)?.id ?? key, product: productRows.at(-1)?.code ?? product } : null,
    last: !isListFull && licenseRows.length < LOAD_PAGE,
  };
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
