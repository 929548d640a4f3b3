// Tells where to read the emails of a local run. `wrangler dev` writes each email to two files instead of sending it.
import { mkdirSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** The page of `wrangler dev` that lists the emails. */
export const MAIL_PREVIEW = '/cdn-cgi/local/explorer/email/sending';

const MAIL_API = '/cdn-cgi/local/explorer/api/local/email/sending';

/** Wrangler creates a folder in it for each run. */
const MAIL_FOLDER = '.wrangler/tmp/email';

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

/** Prints a line for each email, until the process ends. */
export const printMails = async (origin: string) => {
  mkdirSync(MAIL_FOLDER, { recursive: true });
  const printed = new Set<string>();
  for await (const { filename } of watch(MAIL_FOLDER, { recursive: true })) {
    if (!filename || !HTML_FILE.test(filename) || printed.has(filename)) continue;
    printed.add(filename);
    const { to, subject } = await findMail(origin, basename(filename, '.html'));
    console.log(`\nEmail to ${to.join(', ')}, “${subject}”: ${join(process.cwd(), MAIL_FOLDER, filename)}`);
  }
};
