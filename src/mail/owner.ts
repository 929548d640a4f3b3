import { getAccount } from '../db/account.ts';
import { databaseOf, firstDatabase } from '../db/client.ts';
import type { MailTopic } from '../shared/rules/mail-topics.ts';
import type { MailContent } from '../shared/text/mail-content.ts';
import { getUser } from '../users/user.ts';
import { letterTo } from './letter.ts';
import { sendMail } from './send.ts';

// Emails to the owner of an account that nobody has asked for. All but those about security can be switched off.

const SWITCH_NOTE = 'You can turn off emails like this one in the dashboard’s settings.';

export type TellOwner = (topic: MailTopic, content: MailContent<'notice'>) => Promise<boolean>;

/** Returns what sends the owner an email, unless they don't want it. It returns false only if the email is lost. */
export const openOwner = async (env: Env, accountId: string): Promise<TellOwner> => {
  const [user, { mutedEmails }] = await Promise.all([
    getUser({ firstDb: firstDatabase(env) }, accountId),
    getAccount({ env, db: databaseOf(env, accountId), accountId }),
  ]);
  return async (topic, content) =>
    mutedEmails.includes(topic) ||
    sendMail(env, letterTo(user, { ...content, note: `${content.note} ${SWITCH_NOTE}` }));
};
