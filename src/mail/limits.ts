import { firstDatabase } from '../db/client.ts';
import { AppError } from '../shared/app-error.ts';
import type { MailKind } from '../shared/text/mail-content.ts';
import { type Limit, recipientLimits, unverifiedLimits, wayInLimit } from '../users/limits.ts';
import { consumeAttempts } from '../users/throttle.ts';
import type { Letter } from './letter.ts';

/** What tells of something that has happened is sent rather than lost if it can't be counted. */
const tells = (kind: MailKind): boolean => kind === 'notice' || kind === 'security';

/** Counts the email in all of the limits, or in none of them if one is reached. */
const counts = async (env: Env, { content }: Letter, limits: Limit[]): Promise<boolean> => {
  try {
    await consumeAttempts({ firstDb: firstDatabase(env) }, limits);
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    if (tells(content.kind)) return true;
    throw error;
  }
};

/** Counts the email. Returns false if its recipient, or an unverified account, has got too many. */
export const isWithinLimits = async (env: Env, letter: Letter): Promise<boolean> => {
  const { to, content, accountId, isUnverified } = letter;
  const ofAccount = isUnverified ? [unverifiedLimits(accountId)] : [];
  const isFirst =
    content.kind === 'way_in' && (await counts(env, letter, [wayInLimit(to, content.subject), ...ofAccount]));
  const isCounted = await counts(env, letter, [...recipientLimits(to), ...(isFirst ? [] : ofAccount)]);
  return isFirst || isCounted;
};
