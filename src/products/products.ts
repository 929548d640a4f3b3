import { and, asc, eq, exists, getTableColumns, gt, notExists, sql } from 'drizzle-orm';
import type * as z from 'zod';
import { audit, auditAsRead, auditIf, untilAsRead } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { violatesNotNull } from '../db/errors.ts';
import { licenses, productMails, type ProductRow, products } from '../db/schema.ts';
import { requireVersion } from '../db/versions.ts';
import { commit } from '../gate/worker/commit.ts';
import { AppError, limitReached } from '../shared/app-error.ts';
import { MAX_PRODUCTS, type ProductTerms } from '../shared/rules/terms.ts';
import { type PageInput, toPage } from '../shared/schemas/lists.ts';
import { type putProductInput, toProduct } from './schemas.ts';

const isProduct = ({ accountId }: Ctx, code: string) =>
  and(eq(products.accountId, accountId), eq(products.code, code));

export const findProduct = async (ctx: Ctx, code: string): Promise<ProductRow> => {
  const [row] = await ctx.db.select().from(products).where(isProduct(ctx, code));
  if (!row) throw new AppError('product_not_found');
  return row;
};

/** A product's terms, or none if there is no such product. */
export const findTerms = async (ctx: Ctx, code: string | null | undefined): Promise<ProductTerms> => {
  if (!code) return {};
  const [row] = await ctx.db.select({ terms: products.terms }).from(products).where(isProduct(ctx, code));
  return row?.terms ?? {};
};

/** Drops the terms that are null. */
export const toProductTerms = (input: z.output<typeof putProductInput>['terms']): ProductTerms =>
  Object.fromEntries(
    Object.entries(input ?? {}).filter(([, value]) => value !== null && value !== undefined),
  );

/** How many more products the account may have. */
export const roomForProducts = ({ accountId }: Ctx) =>
  sql<number>`(SELECT ${MAX_PRODUCTS} - count(*) FROM products WHERE account_id = ${accountId})`;

/** The account's id if it has the product or room for it, and null otherwise, which the column refuses. */
const accountWithRoom = (ctx: Ctx, code: string) => {
  const known = ctx.db.select({ code: products.code }).from(products).where(isProduct(ctx, code));
  return sql<string>`iif(EXISTS ${known} OR ${roomForProducts(ctx)} > 0, ${ctx.accountId}, NULL)`;
};

const refuseWithoutRoom = (error: unknown): never => {
  if (!violatesNotNull(error, 'products.account_id')) throw error;
  throw limitReached('products', `An account has at most ${MAX_PRODUCTS} products. Delete one first.`);
};

/** When the product was last changed, for a call that wants the version that it has read. Null for other calls. */
const versionAsRead = async (ctx: Ctx, code: string): Promise<number | null> => {
  if (ctx.ifMatch === undefined) return null;
  const [read] = await ctx.db.select().from(products).where(isProduct(ctx, code));
  requireVersion(ctx, read ? toProduct(read) : null);
  return read?.updatedAt ?? null;
};

const putEntry = (ctx: Ctx, code: string, version: number | null) => {
  if (version === null) return audit(ctx, 'product.put', code);
  const isAsRead = and(isProduct(ctx, code), eq(products.updatedAt, version));
  const found = exists(ctx.db.select({ code: products.code }).from(products).where(isAsRead));
  return auditAsRead(ctx, found, 'product.put', code);
};

/** Creates a product, or replaces its name and terms. Licenses that name the product have the new terms at once. */
export const putProduct = async (ctx: Ctx, code: string, input: z.output<typeof putProductInput>) => {
  const nowMs = Date.now();
  const fields = { name: input.name ?? null, terms: toProductTerms(input.terms) };
  const values = {
    accountId: accountWithRoom(ctx, code),
    code,
    ...fields,
    updatedAt: nowMs,
    createdAt: nowMs,
  };
  // Each change sets a later time than the one before it, so the time tells the version.
  const updatedAt = sql<number>`max(${nowMs}, ${products.updatedAt} + 1)`;
  const upsert = ctx.db
    .insert(products)
    .values(values)
    .onConflictDoUpdate({ target: [products.accountId, products.code], set: { ...fields, updatedAt } })
    .returning();
  const [, [row]] = await untilAsRead(async () => {
    const entry = putEntry(ctx, code, await versionAsRead(ctx, code));
    return commit(ctx, [entry, upsert], [{ kind: 'product', ref: code }]);
  }).catch(refuseWithoutRoom);
  if (!row) throw new AppError('unavailable');
  return { product: row, isNew: row.createdAt === row.updatedAt };
};

export const deleteProduct = async (ctx: Ctx, code: string): Promise<void> => {
  const product = await findProduct(ctx, code);
  requireVersion(ctx, toProduct(product));
  const user = ctx.db
    .select({ one: sql`1` })
    .from(licenses)
    .where(and(eq(licenses.accountId, ctx.accountId), eq(licenses.product, code)));
  // Looked at first, because what is refused must not write to D1 at will.
  if ((await user.limit(1)).length > 0) throw new AppError('product_in_use');
  // A license can't come to name the product between the check and the deletion, because both are one statement.
  const isAsRead = ctx.ifMatch === undefined ? undefined : eq(products.updatedAt, product.updatedAt);
  const isUnused = and(isProduct(ctx, code), isAsRead, notExists(user));
  const remove = ctx.db.delete(products).where(isUnused).returning({ code: products.code });
  const willDelete = exists(ctx.db.select({ code: products.code }).from(products).where(isUnused));
  const entry = auditIf(ctx, willDelete, 'product.delete', code);
  const forget = ctx.db
    .delete(productMails)
    .where(and(eq(productMails.accountId, ctx.accountId), eq(productMails.product, code), willDelete));
  const [, , removed] = await commit(ctx, [entry, forget, remove], [{ kind: 'product', ref: code }], {
    isBeyondLimits: true,
  });
  if (removed.length === 0) requireVersion(ctx, toProduct(await findProduct(ctx, code)));
  if (removed.length === 0) throw new AppError('product_in_use');
};

export const listProducts = async ({ db, accountId }: Ctx, { limit, cursor }: PageInput) => {
  const rows = await db
    .select({ ...getTableColumns(products), id: products.code })
    .from(products)
    .where(
      and(eq(products.accountId, accountId), cursor === undefined ? undefined : gt(products.code, cursor)),
    )
    .orderBy(asc(products.code))
    .limit(limit + 1);
  return toPage(rows, limit, toProduct);
};
