import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import type { Mail } from '../../src/mail/render.ts';
import { accountsD1, firstD1 } from './databases.ts';
import { waitUntil } from './wait-until.ts';

interface SentMail extends Mail {
  from: EmailAddress;
  to: string;
}

/** Replaces the binding by one that keeps the emails, because tests can't read what Miniflare writes to files. */
export const keepMails = () => {
  const sent: SentMail[] = [];
  const send = async (mail: SentMail) => {
    sent.push(mail);
    return { messageId: `<${sent.length}@example.com>` };
  };
  Object.defineProperty(env, 'EMAIL', { value: { send, sent }, configurable: true });
};

/** How emails are sent, for a way that does more. */
export const senderNow = (): ((mail: unknown) => Promise<EmailSendResult>) => {
  const { send } = env.EMAIL as { send: (mail: unknown) => Promise<EmailSendResult> };
  return send;
};

/** Sends emails in another way, until the returned function is called. */
export const sendMailsBy = (send: SendEmail['send']) => {
  const { EMAIL } = env;
  Object.defineProperty(env, 'EMAIL', { value: { send }, configurable: true });
  return () => Object.defineProperty(env, 'EMAIL', { value: EMAIL, configurable: true });
};

export const mailsTo = (address: string) =>
  (env.EMAIL as SendEmail & { sent: SentMail[] }).sent.filter(({ to }) => to === address);

/** The notices that are held for an address. */
export const heldFor = async (email: string) => {
  const text = 'SELECT subject, times FROM held_notices WHERE email = ? ORDER BY subject';
  const find = (d1: D1Database) => d1.prepare(text).bind(email).all<{ subject: string; times: number }>();
  return (await Promise.all([firstD1, accountsD1].map(find))).flatMap(({ results }) => results);
};

/** Waits until the address has got `count` emails and returns the last. */
export const lastMailTo = async (address: string, count = 1): Promise<SentMail> => {
  await waitUntil(() => mailsTo(address).length >= count);
  const mails = mailsTo(address);
  expect(mails).toHaveLength(count);
  return mails[count - 1] as SentMail;
};
