import { and, eq } from 'drizzle-orm';
import * as z from 'zod';
import { audit } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { type ProductMailRow, productMails } from '../db/schema.ts';
import { commit } from '../gate/worker/commit.ts';
import { findProduct } from '../products/products.ts';
import { text } from '../shared/schemas/fields.ts';
import { omitUndefined } from '../shared/schemas/omit-undefined.ts';

// What the emails to a product's buyers say besides the key.

export const patchProductMailInput = z
  .strictObject({
    from_name: text(100)
      .nullish()
      .meta({ description: 'The name of the sender. By default, the portal’s or yours.' }),
    intro: text(1_000).nullish().meta({ description: 'How to activate, in at most 1,000 characters.' }),
    support_url: z
      .url({ protocol: /^https$/, error: 'must be a URL that begins with https://' })
      .max(2_048)
      .nullish(),
  })
  .meta({ id: 'PatchProductMail' });

export const productMailBody = z
  .object({
    code: z.string(),
    from_name: z.string().nullable(),
    intro: z.string().nullable(),
    support_url: z.string().nullable(),
  })
  .meta({ id: 'ProductMail' });

/** The fields of the table that a request sets. */
export const wordsOf = (input: z.output<typeof patchProductMailInput>) =>
  omitUndefined({ fromName: input.from_name, intro: input.intro, supportUrl: input.support_url });

type Words = Pick<ProductMailRow, 'product'> & Partial<ProductMailRow>;

export const toProductMail = ({
  product,
  fromName = null,
  intro = null,
  supportUrl = null,
}: Words): z.infer<typeof productMailBody> => ({
  code: product,
  from_name: fromName,
  intro,
  support_url: supportUrl,
});

export const getProductMail = async (ctx: Ctx, code: string) => {
  await findProduct(ctx, code);
  const { accountId } = ctx;
  const [row] = await ctx.db
    .select()
    .from(productMails)
    .where(and(eq(productMails.accountId, accountId), eq(productMails.product, code)));
  return toProductMail(row ?? { product: code });
};

export const patchProductMail = async (
  ctx: Ctx,
  code: string,
  input: z.output<typeof patchProductMailInput>,
) => {
  await findProduct(ctx, code);
  const { accountId } = ctx;
  const updatedAt = Date.now();
  const fields = wordsOf(input);
  const upsert = ctx.db
    .insert(productMails)
    .values({ accountId, product: code, ...fields, updatedAt })
    .onConflictDoUpdate({
      target: [productMails.accountId, productMails.product],
      set: { ...fields, updatedAt },
    })
    .returning();
  const [[row]] = await commit(
    ctx,
    [upsert, audit(ctx, 'product.update_mail', code, { fields: Object.keys(input) })],
    [{ kind: 'product', ref: code }],
  );
  return toProductMail(row ?? { product: code });
};
