import { eq } from 'drizzle-orm';
import { firstDatabase } from '../db/client.ts';
import { users } from '../db/schema.ts';
import { deliver, hasMail } from '../mail/deliver.ts';
import type { Letter, Sender } from '../mail/letter.ts';
import { sendMail } from '../mail/send.ts';
import { AppError } from '../shared/app-error.ts';
import { logError } from '../shared/text/log.ts';
import type { MailContent } from '../shared/text/mail-content.ts';
import { portalMailLimits } from '../users/limits.ts';
import { consumeAttempts, retryTimeOf } from '../users/throttle.ts';
import { type PortalCtx, portalDisabled } from './sessions.ts';

// The emails of the portal, which come from the seller. Those that anybody can ask for are counted apart from those that only a
// customer who is signed in can ask for: a stranger can't use up a customer's, and a customer who reaches the limit gets 429.

const IGNORE = 'If it wasn’t you, ignore this email: nothing changes.';

export const signInMail = (name: string, url: string): MailContent<'way_in'> => ({
  kind: 'way_in',
  subject: `Sign in to ${name}`,
  paragraphs: [`Somebody asked to see the licenses that you have from ${name}. If it was you, sign in.`],
  link: { label: 'Sign in', url },
  note: `The link works once, for 30 minutes. ${IGNORE}`,
});

export const codeMail = (name: string, code: string): MailContent<'way_in'> => ({
  kind: 'way_in',
  subject: `Your code for ${name}`,
  paragraphs: [
    `Somebody who has one of your license keys asked to see the licenses that you have from ${name}.`,
  ],
  facts: [['Code', code]],
  note: `The code works once, for 30 minutes. Share it with nobody. ${IGNORE}`,
});

export interface MailedKey {
  product: string;
  licenseKey: string;
}

export const keysMail = (
  name: string,
  keys: MailedKey[],
  more: number,
  url: string,
): MailContent<'request'> => ({
  kind: 'request',
  subject: `Your license keys from ${name}`,
  paragraphs: [
    keys.length === 1 ? 'Here is your license key.' : 'Here are your license keys.',
    ...(more > 0 ? [`${more} more are on the page below.`] : []),
  ],
  facts: keys.map(({ product, licenseKey }) => [product, licenseKey]),
  link: { label: 'See your licenses', url },
  note: 'You get this email because you asked for your keys. Keep it safe: anyone who has a key can use it.',
});

export const changeMail = (
  name: string,
  { email, newEmail }: { email: string; newEmail: string },
  url: string,
): MailContent<'request'> => ({
  kind: 'request',
  subject: `Confirm your new email address for ${name}`,
  paragraphs: [
    `Somebody who is signed in asked to move the licenses from ${name} from ${email} to ${newEmail}. If it was you, confirm it. The other address gets a link, too, and the licenses move once both are confirmed.`,
  ],
  link: { label: 'Confirm', url },
  note: `The link works once, for 24 hours. ${IGNORE}`,
});

/**
 * The seller's address, for answers, once it is proved. Until then nobody is written to: a portal's name and licenses of strangers
 * are quickly made.
 */
const provedAddress = async ({ env, accountId }: PortalCtx): Promise<string | null> => {
  const user = await firstDatabase(env)
    .select({ email: users.email, verifiedAt: users.emailVerifiedAt })
    .from(users)
    .where(eq(users.accountId, accountId))
    .get();
  return user?.verifiedAt ? user.email : null;
};

/** The name that customers know the seller by. */
export const nameOf = ({ portal }: PortalCtx): string => portal.name ?? portal.slug ?? '';

/** Throws if the seller's customers get no emails. */
export const assertMails = async (ctx: PortalCtx): Promise<void> => {
  if ((await provedAddress(ctx)) === null) throw portalDisabled('The Seller Can’t Send Emails Yet');
};

/** Sends as the seller, if they may. It runs after the response, and never fails. */
const sendAs = async (ctx: PortalCtx, send: (sender: Sender) => Promise<unknown>): Promise<void> => {
  try {
    const replyTo = await provedAddress(ctx);
    if (replyTo !== null && hasMail(ctx.env)) await send({ name: nameOf(ctx), replyTo });
  } catch (error) {
    if (!(error instanceof AppError)) logError('mail_not_sent', error);
  }
};

/**
 * Sends what anybody can ask for, unless the address has had three within the hour: whoever asks for more has the others, which
 * `renew` lets work until the next may be sent. `prepare` stores what the email's link or code needs.
 */
export const mailWayIn = (
  ctx: PortalCtx,
  to: string,
  content: MailContent<'way_in'>,
  prepare: () => Promise<unknown>,
  renew: (untilMs: number) => Promise<unknown>,
): Promise<void> =>
  sendAs(ctx, async (sender) => {
    try {
      await consumeAttempts({ firstDb: firstDatabase(ctx.env) }, portalMailLimits(to));
    } catch (error) {
      const untilMs = retryTimeOf(error);
      if (untilMs === null) throw error;
      await renew(untilMs);
      return;
    }
    const letter: Letter<'way_in'> = {
      to,
      content,
      accountId: ctx.accountId,
      isUnverified: false,
      sender,
    };
    await sendMail(ctx.env, letter, prepare);
  });

/** Sends what a customer who is signed in has asked for. The answer has counted it, and no other bound drops it. */
export const mailCustomer = (
  ctx: PortalCtx,
  to: string,
  content: MailContent<'request'>,
  prepare?: () => Promise<unknown>,
): Promise<void> =>
  sendAs(ctx, async (sender) => {
    await prepare?.();
    await deliver(ctx.env, to, content, sender);
  });
