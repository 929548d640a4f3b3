// The emails of a local run, which `wrangler dev` keeps instead of sending them.
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Customer } from './customer.ts';
import type { Client } from './service.ts';

const MAIL_API = '/cdn-cgi/local/explorer/api/local/email/sending';
const TIMEOUT_MS = 120_000;

interface SentMail {
  to: string[];
  subject: string;
  messageId: string;
  text: string;
}

const get = async <T>(origin: string, query: Record<string, string>): Promise<T> => {
  const response = await fetch(`${origin}${MAIL_API}?${new URLSearchParams(query).toString()}`);
  const { result }: { result: T } = await response.json();
  return result;
};

/** Waits for an email, and returns its text. */
export const waitForMail = async (origin: string, to: string, subject: string): Promise<string> => {
  const deadlineMs = Date.now() + TIMEOUT_MS;
  for (;;) {
    const mails = await get<SentMail[]>(origin, { limit: '100' });
    const mail = mails.find((sent) => sent.to.includes(to) && sent.subject === subject);
    if (mail) return (await get<SentMail>(origin, { email_id: mail.messageId })).text;
    if (Date.now() > deadlineMs) throw new Error(`No email “${subject}” to ${to}.`);
    await delay(100);
  }
};

/** Waits for an email, and returns the link in it. */
export const waitForLink = async (origin: string, to: string, subject: string): Promise<string> =>
  /https?:\/\/\S+/.exec(await waitForMail(origin, to, subject))?.[0] ?? '';

/** Verifies the account's address, as the link in its email does. */
export const verifyAddress = async (service: Client, { email, token }: Customer): Promise<void> => {
  const link = await waitForLink(service.origin, email, 'Verify your email address');
  const body = { token: link.split('#token=')[1] };
  const { status } = await service.post('/api/verify-email', body, { authorization: `Bearer ${token}` });
  expect(status).toBe(200);
};
