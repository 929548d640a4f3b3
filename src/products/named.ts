import { and, eq, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { products } from '../db/schema.ts';
import { type AppError, invalidField } from '../shared/app-error.ts';
import { nearestCodes, notAProduct } from '../shared/rules/nearest-products.ts';
import { MAX_PRODUCTS } from '../shared/rules/terms.ts';

// As soon as an account has products, a license's product must name one. The commit that sets it checks that, so that a
// product that is deleted or created meanwhile counts.

/** The value if the license may have the product, and null otherwise, which the column refuses. */
export const ifNamesProduct = ({ db, accountId }: Ctx, product: string, value: number) => {
  const any = db.select({ code: products.code }).from(products).where(eq(products.accountId, accountId));
  const named = db
    .select({ code: products.code })
    .from(products)
    .where(and(eq(products.accountId, accountId), eq(products.code, product)));
  return sql<number>`iif(EXISTS ${named} OR NOT EXISTS ${any}, ${value}, NULL)`;
};

/** The codes and names of the account's products. */
export const listNames = ({ db, accountId }: Ctx) =>
  db
    .select({ code: products.code, name: products.name })
    .from(products)
    .where(eq(products.accountId, accountId))
    .limit(MAX_PRODUCTS);

/** The error for a product that isn't one, with the products that it may have meant. */
export const unknownProduct = async (ctx: Ctx, product: string): Promise<AppError> =>
  invalidField('product', notAProduct(nearestCodes(product, await listNames(ctx))));
