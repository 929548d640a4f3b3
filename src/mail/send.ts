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

/**
 * Sends an email, if the service can and its recipient has not got too many, and logs a failure. Callers don't wait for it
 * (`waitUntil`), so that the time of a response doesn't tell whether an email was sent.
 */
export const sendMail = async (env: Env, letter: Letter): Promise<void> => {
  if (!hasMail(env)) return;
  try {
    if (await isWithinLimits(env, letter)) await deliver(env, letter.to, letter.content);
    else if (letter.content.kind === 'notice') await holdNotice(env, letter);
  } catch (error) {
    logError('mail_not_sent', error);
  }
};
