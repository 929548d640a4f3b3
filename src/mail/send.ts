import { logError } from '../shared/text/log.ts';

export interface Mail {
  subject: string;
  text: string;
  html: string;
}

type MailEnv = Partial<Pick<Env, 'EMAIL' | 'MAIL_FROM'>>;

/** Whether the service can send email. Both the binding and a sender are needed. */
export const hasMail = ({ EMAIL, MAIL_FROM }: MailEnv): boolean => EMAIL !== undefined && !!MAIL_FROM;

/**
 * Sends an email, if the service can, and logs a failure. Callers don't wait for it (`waitUntil`), so that the time of a
 * response doesn't tell whether an email was sent.
 */
export const sendMail = async ({ EMAIL, MAIL_FROM }: MailEnv, to: string, mail: Mail): Promise<void> => {
  if (!EMAIL || !MAIL_FROM) return;
  try {
    await EMAIL.send({ from: { name: 'Latchkey', email: MAIL_FROM }, to, ...mail });
  } catch (error) {
    logError('mail_not_sent', error);
  }
};
