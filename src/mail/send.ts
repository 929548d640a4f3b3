import { settingsOf } from '../shared/config/settings.ts';
import { logError } from '../shared/text/log.ts';

export interface Mail {
  subject: string;
  text: string;
  html: string;
}

/** Returns what sends email, or null if the service can't. Both the binding and a sender are needed. */
const senderOf = (env: Env) => {
  const { mailFrom } = settingsOf(env);
  // wrangler.toml may lack the binding.
  const binding: SendEmail | undefined = env.EMAIL;
  return mailFrom === null || binding === undefined ? null : { binding, mailFrom };
};

/** Whether the service can send email. */
export const hasMail = (env: Env): boolean => senderOf(env) !== null;

/**
 * Sends an email, if the service can, and logs a failure. Callers don't wait for it (`waitUntil`), so that the time of a
 * response doesn't tell whether an email was sent.
 */
export const sendMail = async (env: Env, to: string, mail: Mail): Promise<void> => {
  const sender = senderOf(env);
  if (!sender) return;
  try {
    await sender.binding.send({ from: { name: 'Latchkey', email: sender.mailFrom }, to, ...mail });
  } catch (error) {
    logError('mail_not_sent', error);
  }
};
