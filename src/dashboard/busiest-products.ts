import { and, asc, eq, inArray } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { products } from '../db/schema.ts';
import type { ProductUsage } from '../gate/rules/usage.ts';

const MAX_SHOWN = 10;
/** Counted products whose names are read. Some of them may be deleted, and are left out. */
const MAX_READ = 50;

type ProductCtx = Pick<Ctx, 'db' | 'accountId'>;
type ProductName = { code: string; name: string | null };

const select = ({ db }: ProductCtx) => db.select({ code: products.code, name: products.name }).from(products);

/** A statement that reads all products of most accounts, and the first ones of an account that has many. */
export const selectFirstProducts = (ctx: ProductCtx) =>
  select(ctx)
    .where(eq(products.accountId, ctx.accountId))
    .orderBy(asc(products.code))
    .limit(MAX_SHOWN + 1);

/** Returns the products with the most calls. `first` are the rows of `selectFirstProducts`. */
export const busiestProducts = async (ctx: ProductCtx, first: ProductName[], usage: ProductUsage[]) => {
  const busiest = usage.toSorted((a, b) => b.calls - a.calls).slice(0, MAX_READ);
  const callsByCode = new Map(busiest.map(({ code, calls }) => [code, calls]));
  const isCalled = and(
    eq(products.accountId, ctx.accountId),
    inArray(products.code, [...callsByCode.keys()]),
  );
  const others = first.length > MAX_SHOWN ? await select(ctx).where(isCalled) : [];
  const names = new Map([...others, ...first].map(({ code, name }) => [code, name]));
  return [...names]
    .map(([product, name]) => ({ product, name, calls: callsByCode.get(product) ?? 0 }))
    .toSorted((a, b) => b.calls - a.calls || (a.product < b.product ? -1 : 1))
    .slice(0, MAX_SHOWN);
};
