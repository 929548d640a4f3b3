// Tells where to read the emails of a local run. `wrangler dev` writes each email to two files instead of sending it.
import { mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setInterval } from 'node:timers/promises';

/** The page of `wrangler dev` that lists the emails. */
export const MAIL_PREVIEW = '/cdn-cgi/local/explorer/email/sending';

const MAIL_API = '/cdn-cgi/local/explorer/api/local/email/sending';

/** Wrangler creates a folder in it for each run. */
const MAIL_FOLDER = '.wrangler/tmp/email';

const POLL_MS = 300;

const HTML_FILE = /\bemail-html\/[^/]+\.html$/;

interface SentMail {
  result: { to: string[]; subject: string };
}

/** Returns the recipient and the subject of an email. */
const findMail = async (origin: string, id: string) => {
  const query = new URLSearchParams({ email_id: `<${id}>` });
  const response = await fetch(`${origin}${MAIL_API}?${query.toString()}`);
  const { result }: SentMail = await response.json();
  return result;
};

const htmlFiles = () =>
  readdirSync(MAIL_FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => HTML_FILE.test(name));

/** Prints a line for each email, until the process ends. Node.js doesn't notice new files in folders that are new, too. */
export const printMails = async (origin: string) => {
  mkdirSync(MAIL_FOLDER, { recursive: true });
  const known = new Set(htmlFiles());
  for await (const _ of setInterval(POLL_MS)) {
    for (const name of htmlFiles().filter((file) => !known.has(file))) {
      known.add(name);
      const { to, subject } = await findMail(origin, basename(name, '.html'));
      console.log(`\nEmail to ${to.join(', ')}, “${subject}”: ${join(process.cwd(), MAIL_FOLDER, name)}`);
    }
  }
};
