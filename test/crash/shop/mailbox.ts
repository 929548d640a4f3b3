// Takes the emails of the service, as Cloudflare does for the buyers' mailboxes: what it has answered with 200 is sent.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

interface Email {
  to: string;
  subject: string;
  text: string;
}

const KEY = /\b[0-9A-Z]{5}(?:-[0-9A-Z]{5})+\b/g;
const TIMEOUT_MS = 30_000;

export const openMailbox = async () => {
  const emails: Email[] = [];
  /** When each key was mailed. */
  const mailed = new Map<string, number[]>();
  const server = createServer((request, response) => {
    void (async () => {
      const email = JSON.parse(await text(request)) as Email;
      emails.push(email);
      for (const key of email.text.match(KEY) ?? [])
        mailed.set(key, [...(mailed.get(key) ?? []), Date.now()]);
      response.end();
    })().catch(() => response.destroy());
  });
  // As the receiver's.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  /** Waits for an email, and returns the link in it. */
  const waitForLink = async (to: string, subject: string): Promise<string> => {
    const deadlineMs = Date.now() + TIMEOUT_MS;
    for (;;) {
      const email = emails.find((sent) => sent.to === to && sent.subject === subject);
      if (email) return /https?:\/\/\S+/.exec(email.text)?.[0] ?? '';
      if (Date.now() > deadlineMs) throw new Error(`No email “${subject}” to ${to}.`);
      await delay(100);
    }
  };
  return {
    variable: `MAILBOX:http://127.0.0.1:${port}`,
    mailed,
    waitForLink,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

export type Mailbox = Awaited<ReturnType<typeof openMailbox>>;
