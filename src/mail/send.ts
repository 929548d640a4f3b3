import { firstDatabase } from '../db/client.ts';
import { logError } from '../shared/text/log.ts';
import type { MailKind } from '../shared/text/mail-content.ts';
import { deliver, hasMail } from './deliver.ts';
import { holdForLater } from './held.ts';
import type { Letter } from './letter.ts';
import { isWithinLimits } from './limits.ts';

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
 * Sends an email that isn't about security, if the service can and its recipient has not got too many. A notice that isn't sent
 * is held for the scheduled work. Returns false only if a notice is lost. Callers don't wait for it (`waitUntil`), so that the
 * time of a response doesn't tell whether it is sent. `prepare` stores what the link of an email that is sent needs.
 */
export const sendMail = async (
  env: Env,
  letter: Letter<Exclude<MailKind, 'security'>>,
  prepare?: () => Promise<unknown>,
): Promise<boolean> => {
  if (!hasMail(env)) return true;
  const isSent = await attempt(async () => {
    if (!(await isWithinLimits(env, letter))) return false;
    await prepare?.();
    await deliver(env, letter.to, letter.content, letter.sender);
    return true;
  });
  if (isSent || letter.content.kind !== 'notice') return true;
  return attempt(async () => {
    const { statement } = await holdForLater({ env, db: firstDatabase(env) }, letter);
    await statement;
    return true;
  });
};
