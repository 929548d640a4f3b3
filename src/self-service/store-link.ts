import { and, desc, eq, sql } from 'drizzle-orm';
import { firstDatabase } from '../db/client.ts';
import { inJson } from '../db/json-rows.ts';
import {
  licenses,
  purchaseLicenses,
  purchases,
  purchaseThings,
  type StoreRow,
  stores,
} from '../db/schema.ts';
import { type CustomerCtx, isCustomersLicense } from '../portal/sessions.ts';
import type { Thing } from '../purchases/rules/facts.ts';
import { AppError } from '../shared/app-error.ts';
import { openApi, StoreApiError } from '../stores/api-access.ts';
import { PROVIDERS } from '../stores/provider/providers.ts';
import { portalLinkLimits } from '../users/limits.ts';
import { consumeAttempts } from '../users/throttle.ts';

// The store's own page, on which a customer finds invoices and cancels. Latchkey takes no payments for its sellers.

const noPage = () => new AppError('not_found', { message: 'The Store Has No Page for This License' });

/** The things of a purchase that a provider looks at. A purchase has few but for its invoices. */
const MAX_THINGS = 100;

interface Bought extends Pick<StoreRow, 'provider' | 'apiKey'> {
  buyerRef: string | null;
}

const hasPage = ({ provider, apiKey, buyerRef }: Bought): boolean => {
  const { api } = PROVIDERS[provider];
  return apiKey !== null && api?.storeLink !== undefined && (buyerRef !== null || !api.needsBuyer);
};

/** Purchases of the customer's own. The store's page is its buyer's, who may have given the license to somebody else since. */
const isBoughtBy = ({ accountId, customer }: CustomerCtx) =>
  and(eq(purchaseLicenses.accountId, accountId), eq(sql`lower(${purchases.customerEmail})`, customer.email));

/** Which of these licenses the customer has bought in a store that has a page for customers. */
export const findWithStorePage = async (ctx: CustomerCtx, ids: string[]): Promise<Set<string>> => {
  const isAmong = sql`${purchaseLicenses.licenseId} ${inJson(ids)}`;
  const bought = await ctx.db
    .select({
      licenseId: purchaseLicenses.licenseId,
      provider: stores.provider,
      apiKey: stores.apiKey,
      buyerRef: purchases.buyerRef,
    })
    .from(purchaseLicenses)
    .innerJoin(purchases, eq(purchases.id, purchaseLicenses.purchaseId))
    .innerJoin(stores, eq(stores.id, purchases.storeId))
    .where(and(isBoughtBy(ctx), isAmong));
  return new Set(bought.filter(hasPage).map(({ licenseId }) => licenseId));
};

const findPurchase = async (ctx: CustomerCtx, licenseId: string) => {
  const [found] = await ctx.db
    .select({ id: purchases.id, buyerRef: purchases.buyerRef, store: stores })
    .from(purchaseLicenses)
    .innerJoin(purchases, eq(purchases.id, purchaseLicenses.purchaseId))
    .innerJoin(stores, eq(stores.id, purchases.storeId))
    .where(and(isBoughtBy(ctx), eq(purchaseLicenses.licenseId, licenseId)))
    .orderBy(desc(purchases.id))
    .limit(1);
  return found ?? null;
};

const findThings = async ({ db }: CustomerCtx, store: StoreRow, purchaseId: string): Promise<Thing[]> => {
  const rows = await db
    .select({ thing: purchaseThings.thing })
    .from(purchaseThings)
    .where(and(eq(purchaseThings.purchaseId, purchaseId), eq(purchaseThings.storeId, store.id)))
    .limit(MAX_THINGS);
  return rows.map(({ thing }) => thing as Thing);
};

/** Returns the link to the store's page for the customer's purchase of a license. */
export const openStorePage = async (ctx: CustomerCtx, licenseId: string): Promise<string> => {
  const isTheirs = and(isCustomersLicense(ctx, ctx.customer), eq(licenses.id, licenseId));
  const [license] = await ctx.db.select({ id: licenses.id }).from(licenses).where(isTheirs).limit(1);
  if (!license) throw new AppError('license_not_found');
  const purchase = await findPurchase(ctx, licenseId);
  if (!purchase) throw noPage();
  const { store, buyerRef } = purchase;
  const { api } = PROVIDERS[store.provider];
  if (!api?.storeLink || !hasPage({ ...store, buyerRef })) throw noPage();
  await consumeAttempts({ firstDb: firstDatabase(ctx.env) }, portalLinkLimits(licenseId));
  const things = await findThings(ctx, store, purchase.id);
  try {
    const access = await openApi(ctx.env, store, api);
    const url = access && (await api.storeLink(access, things, buyerRef as Thing | null));
    if (!url) throw noPage();
    return url;
  } catch (error) {
    if (!(error instanceof StoreApiError)) throw error;
    throw new AppError('unavailable', { message: 'The Store Can’t Be Reached', cause: error });
  }
};
