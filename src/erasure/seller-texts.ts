import { and, eq, getTableColumns, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { apiKeys, type ProductRow, products } from '../db/schema.ts';
import type { FeedChange } from '../gate/feed/write.ts';
import { commit } from '../gate/worker/commit.ts';
import { openScrubber } from '../shared/text/scrub.ts';

// What the seller has named: products, with the entitlements that they give to licenses, and API keys. A customer's address in
// them goes. Their names stay, because such a text is about a product or a program.

type Product = Pick<ProductRow, 'code' | 'name' | 'terms' | 'updatedAt'>;

/** The texts that all licenses of a product share, and which an application may depend on. */
const sharedTexts = (rows: Product[]): Set<string> => {
  const texts = rows.flatMap(({ code, terms }) => [code, ...Object.entries(terms.entitlements ?? {}).flat()]);
  return new Set(texts.filter((text) => typeof text === 'string'));
};

/** A product that was changed meanwhile stays, and is found by the next run. */
const saveProducts = async (ctx: Ctx, changed: Product[]): Promise<void> => {
  const { db, accountId } = ctx;
  const [update, ...others] = changed.map(({ code, name, terms, updatedAt }) =>
    db
      .update(products)
      .set({ name, terms, updatedAt: sql`max(${Date.now()}, updated_at + 1)` })
      .where(
        and(eq(products.accountId, accountId), eq(products.code, code), eq(products.updatedAt, updatedAt)),
      ),
  );
  const [change, ...more] = changed.map(({ code }): FeedChange => ({ kind: 'product', ref: code }));
  if (update && change) await commit(ctx, [update, ...others], [change, ...more], { isBeyondLimits: true });
};

/** No gate has the names of keys. */
const saveKeys = async ({ db, accountId }: Ctx, changed: { id: string; name: string | null }[]) => {
  const [first, ...others] = changed.map(({ id, name }) =>
    db
      .update(apiKeys)
      .set({ name })
      .where(and(eq(apiKeys.accountId, accountId), eq(apiKeys.id, id))),
  );
  if (first) await db.batch([first, ...others]);
};

/** Takes the address out of what the seller has named. Returns the texts of products, which are about no customer. */
export const scrubSellerTexts = async (ctx: Ctx, email: string): Promise<Set<string>> => {
  const { db, accountId } = ctx;
  const { scrub } = openScrubber({ email, names: [] });
  const { code, name, terms, updatedAt } = getTableColumns(products);
  const [rows, keys] = await db.batch([
    db.select({ code, name, terms, updatedAt }).from(products).where(eq(products.accountId, accountId)),
    db
      .select({ id: apiKeys.id, name: apiKeys.name })
      .from(apiKeys)
      .where(and(eq(apiKeys.accountId, accountId), sql`instr(lower(${apiKeys.name}), ${email})`)),
  ]);
  const scrubbed = rows.map((product) => ({
    ...product,
    name: scrub(product.name),
    terms: scrub(product.terms),
  }));
  await saveProducts(
    ctx,
    scrubbed.filter((product, i) => JSON.stringify(product) !== JSON.stringify(rows[i])),
  );
  await saveKeys(
    ctx,
    keys.map((key) => ({ ...key, name: scrub(key.name) })),
  );
  return sharedTexts(scrubbed);
};
