import { firstDatabase } from '../db/client.ts';
import type { UserRow } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import { logError } from '../shared/text/log.ts';
import type { MailContent } from '../shared/text/mail-content.ts';
import { recipientLimits, unverifiedLimits } from '../users/limits.ts';
import { consumeAttempts } from '../users/throttle.ts';
import { deliver, hasMail } from './deliver.ts';
import { holdNotice } from './held.ts';

/** An email to one person, about an account. */
export interface Letter {
  to: string;
  content: MailContent;
  accountId: string;
  /** Whether the account has caused the email before it has proven an address. */
  isUnverified: boolean;
}

/** A letter to the account's own address. */
export const letterTo = (
  { email, accountId, emailVerifiedAt }: Pick<UserRow, 'email' | 'accountId' | 'emailVerifiedAt'>,
  content: MailContent,
): Letter => ({ to: email, content, accountId, isUnverified: emailVerifiedAt === null });

const isWithinLimits = async (env: Env, letter: Letter): Promise<boolean> => {
  const { to, accountId, isUnverified } = letter;
  const limits = [...recipientLimits(to), ...(isUnverified ? [unverifiedLimits(accountId)] : [])];
  try {
    await consumeAttempts({ firstDb: firstDatabase(env) }, limits);
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    // A notice that can't be counted is sent rather than lost.
    if (letter.content.kind === 'notice') return true;
    throw error;
  }
};

/** Does the work unless it fails, which is logged. */
const attempt = async (work: () => Promise<boolean>): Promise<boolean> => {
  try {
    return await work();
  } catch (error) {
    logError('mail_not_sent', error);
    return false;
  }
};

/**
 * Sends an email, if the service can and its recipient has not got too many. A notice that isn't sent, also because that fails,
 * is held for the scheduled work. Returns false only if a notice is lost. Callers don't wait for it (`waitUntil`), so that the
 * time of a response doesn't tell whether an email was sent.
 */
export const sendMail = async (env: Env, letter: Letter): Promise<boolean> => {
  if (!hasMail(env)) return true;
  const isSent = await attempt(async () => {
    if (!(await isWithinLimits(env, letter))) return false;
    await deliver(env, letter.to, letter.content);
    return true;
  });
  if (isSent || letter.content.kind !== 'notice') return true;
  return attempt(async () => {
    await holdNotice(env, letter);
    return true;
  });
};
