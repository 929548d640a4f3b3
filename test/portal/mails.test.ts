import { env } from 'cloudflare:workers';
import { beforeAll, expect, test, vi } from 'vitest';
import { webhookDisabled } from '../../src/mail/account-templates.ts';
import { sendMail } from '../../src/mail/send.ts';
import { outcomeOf } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { keepMails, lastMailTo, mailsTo } from '../support/mails.ts';
import { freshEmail, sellerWithCustomer, signInByApplication, tokenIn, visit } from '../support/portal.ts';
import { waitUntil } from '../support/wait-until.ts';

beforeAll(keepMails);

const MINUTE_MS = 60_000;

const subjectsTo = (email: string) => mailsTo(email).map(({ subject }) => subject);

/** A customer who is signed in, and whose address gets no more emails of those that strangers can ask for. */
const openFlooded = async () => {
  const { ada, slug, email } = await sellerWithCustomer();
  const { asCustomer } = await signInByApplication(ada, slug, { customer_email: email });
  for (let i = 1; i <= 4; i++) {
    await visit(slug, 'POST', '/sign-in', { email });
    await waitUntil(() => mailsTo(email).length === Math.min(i, 3));
  }
  return { email, asCustomer };
};

test('a customer’s keys are sent, however many sign-ins a stranger has asked for', async () => {
  const { email, asCustomer } = await openFlooded();
  const resend = async () => outcomeOf(await asCustomer('POST', '/resend-keys', {}));
  for (let i = 0; i < 3; i++) expect(await resend()).toBe('202 ok');
  await waitUntil(() => mailsTo(email).length >= 6);
  expect(subjectsTo(email).slice(3)).toEqual(Array(3).fill('Your license keys from Orrery'));
  expect(await resend()).toBe('429 rate_limit_exceeded');
});

test('both links of a change of address are sent, however many sign-ins a stranger has asked for', async () => {
  const { email, asCustomer } = await openFlooded();
  const to = freshEmail('new');
  expect(outcomeOf(await asCustomer('POST', '/change-email', { email: to }))).toBe('202 ok');
  const subject = 'Confirm your new email address for Orrery';
  await waitUntil(() => mailsTo(to).length === 1);
  expect([subjectsTo(email).slice(3), subjectsTo(to)]).toEqual([[subject], [subject]]);
});

test('an address gets three links of changes an hour, whoever names it as their new one', async () => {
  const to = freshEmail('victim');
  const change = async () => {
    const { ada, slug, email } = await sellerWithCustomer();
    const { asCustomer } = await signInByApplication(ada, slug, { customer_email: email });
    return { email, outcome: outcomeOf(await asCustomer('POST', '/change-email', { email: to })) };
  };
  for (let i = 1; i <= 3; i++) {
    expect((await change()).outcome).toBe('202 ok');
    await waitUntil(() => mailsTo(to).length === i);
  }
  const { email, outcome } = await change();
  expect(outcome).toBe('429 rate_limit_exceeded');
  expect(mailsTo(email)).toEqual([]);
});

test('a link to a new address counts among its emails of all kinds, and is refused beyond them', async () => {
  const to = freshEmail('full');
  const letter = {
    to,
    content: webhookDisabled('hooks.example.com', true),
    accountId: 'acct_x',
    isUnverified: false,
  };
  for (let i = 0; i < 5; i++) await sendMail(env, letter);
  const { ada, slug, email } = await sellerWithCustomer();
  const { asCustomer } = await signInByApplication(ada, slug, { customer_email: email });
  expect(outcomeOf(await asCustomer('POST', '/change-email', { email: to }))).toBe('429 rate_limit_exceeded');
  expect([mailsTo(to).length, mailsTo(email).length]).toEqual([5, 0]);
});

test('an address that has had its emails of the hour gets in by them until the hour is over, if it asks again', async () => {
  useFakeClock();
  const { slug, email, license } = await sellerWithCustomer();
  const { license_key } = license;
  const ask = async (body: object, emails: number) => {
    expect((await visit(slug, 'POST', '/sign-in', body)).status).toBe(202);
    await waitUntil(() => mailsTo(email).length === emails);
  };
  const enter = async (sent: object) => outcomeOf(await visit(slug, 'POST', '/session', sent));
  await ask({ email }, 1);
  await ask({ email }, 2);
  await ask({ license_key }, 3);
  const [first = '', second = '', coded = ''] = mailsTo(email).map(({ text }) => text);
  const code = /Code: (\d{6})/.exec(coded)?.[1];
  vi.advanceTimersByTime(40 * MINUTE_MS);
  // Whoever is sent an email deletes what has expired.
  const other = await sellerWithCustomer();
  await visit(other.slug, 'POST', '/sign-in', { email: other.email });
  await lastMailTo(other.email);
  expect(await enter({ token: tokenIn(first) })).toBe('400 invalid_token');
  await ask({ email }, 3);
  await ask({ license_key }, 3);
  const usable = accountsD1.prepare(
    'SELECT count(*) AS n FROM portal_tokens WHERE email = ? AND expires_at > ?',
  );
  await waitUntil(async () => (await usable.bind(email, Date.now()).first('n')) === 3);
  expect(await enter({ token: tokenIn(first) })).toBe('200 ok');
  expect(await enter({ token: tokenIn(first) })).toBe('400 invalid_token');
  expect(await enter({ license_key, code })).toBe('200 ok');
  vi.advanceTimersByTime(20 * MINUTE_MS);
  expect(await enter({ token: tokenIn(second) })).toBe('400 invalid_token');
  await ask({ email }, 4);
});
