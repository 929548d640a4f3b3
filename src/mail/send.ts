import { firstDatabase } from '../db/client.ts';
import type { UserRow } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import { logError } from '../shared/text/log.ts';
import type { MailContent } from '../shared/text/mail-content.ts';
import { type Limit, recipientLimits, unverifiedLimits, wayInLimit } from '../users/limits.ts';
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
  /** Stores what the email's link needs, once it's clear that the email is sent. */
  prepare?: () => Promise<unknown>;
}

/** A letter to the account's own address. */
export const letterTo = (
  { email, accountId, emailVerifiedAt }: Pick<UserRow, 'email' | 'accountId' | 'emailVerifiedAt'>,
  content: MailContent,
): Letter => ({ to: email, content, accountId, isUnverified: emailVerifiedAt === null });

/** Counts the email in all of the limits, or in none of them if one is reached. */
const counts = async (env: Env, { kind }: MailContent, limits: Limit[]): Promise<boolean> => {
  try {
    await consumeAttempts({ firstDb: firstDatabase(env) }, limits);
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    // A notice that can't be counted is sent rather than lost.
    if (kind === 'notice') return true;
    throw error;
  }
};

const isWithinLimits = async (env: Env, letter: Letter): Promise<boolean> => {
  const { to, content, accountId, isUnverified } = letter;
  const ofAccount = isUnverified ? [unverifiedLimits(accountId)] : [];
  const isFirst =
    content.kind === 'way_in' &&
    (await counts(env, content, [wayInLimit(to, content.subject), ...ofAccount]));
  const isCounted = await counts(env, content, [...recipientLimits(to), ...(isFirst ? [] : ofAccount)]);
  return isFirst || isCounted;
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
    await letter.prepare?.();
    await deliver(env, letter.to, letter.content);
    return true;
  });
  if (isSent || letter.content.kind !== 'notice') return true;
  return attempt(async () => {
    await holdNotice(env, letter);
    return true;
  });
};
