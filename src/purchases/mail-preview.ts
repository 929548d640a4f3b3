import * as z from 'zod';
import { audited } from '../audit/audited.ts';
import type { Ctx, UserCtx } from '../db/ctx.ts';
import { deliver, hasMail } from '../mail/deliver.ts';
import { renderMail } from '../mail/render.ts';
import { findProduct } from '../products/products.ts';
import { AppError } from '../shared/app-error.ts';
import { EXAMPLE_LICENSE_KEY } from '../shared/rules/license-key.ts';
import { logError } from '../shared/text/log.ts';
import { mailLimits, recipientLimits } from '../users/limits.ts';
import { consumeAttempts } from '../users/throttle.ts';
import { getUser } from '../users/user.ts';
import { type BuyerMail, buyerMail, readSeller } from './buyer-mail.ts';
import { type patchProductMailInput, wordsOf } from './product-mail.ts';

// The email to a product's buyers as it would be with some words, which need not be saved.

type Draft = z.output<typeof patchProductMailInput>;

export const mailPreviewBody = z
  .object({
    from_name: z.string(),
    reply_to: z.string().nullable().meta({ description: 'The account’s address, to which answers go.' }),
    subject: z.string(),
    text: z.string(),
    html: z.string(),
  })
  .meta({ id: 'ProductMailPreview' });

export const mailTestBody = z.object({ sent_to: z.string() }).meta({ id: 'ProductMailTest' });

const mailWith = async (ctx: Ctx, code: string, draft: Draft): Promise<BuyerMail> => {
  await findProduct(ctx, code);
  const seller = await readSeller(ctx.env, ctx.accountId, code, wordsOf(draft));
  return buyerMail(seller, [{ product: code, licenseKey: EXAMPLE_LICENSE_KEY }], false);
};

export const previewProductMail = async (
  ctx: Ctx,
  code: string,
  draft: Draft,
): Promise<z.infer<typeof mailPreviewBody>> => {
  const { content, sender } = await mailWith(ctx, code, draft);
  return { from_name: sender.name, reply_to: sender.replyTo, ...renderMail(content) };
};

/** Sends the preview to the account's own address, if that is verified. */
export const testProductMail = async (ctx: UserCtx, code: string, draft: Draft) => {
  const { env, accountId } = ctx;
  const { content, sender } = await mailWith(ctx, code, draft);
  if (!hasMail(env)) throw new AppError('unavailable', { message: 'This Service Sends No Email' });
  const { email, emailVerifiedAt } = await getUser(ctx, accountId);
  if (emailVerifiedAt === null)
    throw new AppError('invalid_transition', { message: 'Verify Your Email Address First' });
  const makeChange = async () => {
    await consumeAttempts(ctx, [...mailLimits('test', accountId), ...recipientLimits(email)]);
    try {
      await deliver(env, email, content, sender);
    } catch (error) {
      logError('mail_not_sent', error, { account_id: accountId });
      throw new AppError('unavailable', { message: 'The Email Couldn’t Be Sent', cause: error });
    }
  };
  await audited(ctx, ['product.test_mail', code], { check: null, makeChange });
  return { sent_to: email };
};
