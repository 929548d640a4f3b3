import { env } from 'cloudflare:workers';
import { beforeEach, expect, test, vi } from 'vitest';
import { sendReset } from '../../src/credentials/passwords.ts';
import { heldNotices } from '../../src/db/schema.ts';
import { accountErased, webhookDisabled } from '../../src/mail/account-templates.ts';
import { sendHeldNotices } from '../../src/mail/held.ts';
import { sendMail } from '../../src/mail/send.ts';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import { captureLogs } from '../http/security.ts';
import { type Account, freshAddress, ORIGIN, outcomeOf, register } from '../support/client.ts';
import { publicCtx } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { withoutTables } from '../support/gate.ts';
import { runHourly } from '../support/hourly.ts';
import { heldFor, lastMailTo, mailsTo, sendMailsBy } from '../support/mails.ts';
import { asVisitor, login, verifyAddress } from '../support/sign-in.ts';
import { tokenTo } from '../support/tokens.ts';
import { waitUntil } from '../support/wait-until.ts';

beforeEach(() => {
  useFakeClock();
});

const subjectsTo = (email: string) => mailsTo(email).map(({ subject }) => subject);

/** Waits until so many are held, and no request is sending one. */
const untilHeld = (email: string, times: number) =>
  waitUntil(async () => {
    const held = await heldFor(email);
    const isMerged = held.every(({ subject }) => !/ \w{12}$/.test(subject));
    return isMerged && held.reduce((sum, row) => sum + row.times, 0) === times;
  });

const registerVerified = async () => {
  const ada = await register();
  await verifyAddress(ada.accountId);
  return ada;
};

/** Of what happens. */
const content = webhookDisabled('hooks.example.com', true);

const askFor = (ada: Account, email: string) =>
  ada.asSession('POST', '/api/change-email', { email, current_password: ada.password });

test('an address gets five emails an hour and 15 a day, whichever accounts cause them', async () => {
  const stranger = 'stranger@example.com';
  const people = await Promise.all(Array.from({ length: 4 }, registerVerified));
  let sent = 0;
  for (const expected of [5, 5, 5, 0]) {
    for (const ada of people) {
      await ada.prove();
      for (let i = 0; i < 2; i++) expect(outcomeOf(await askFor(ada, stranger))).toBe('202 ok');
    }
    sent += expected;
    await waitUntil(() => mailsTo(stranger).length === sent);
    vi.advanceTimersByTime(HOUR_MS + 1);
  }
  expect(subjectsTo(stranger)).toHaveLength(15);
  expect(await heldFor(stranger)).toEqual([]);
  vi.advanceTimersByTime(DAY_MS);
  const [ada] = people;
  if (!ada) throw new Error('There is no account.');
  await ada.prove();
  await askFor(ada, stranger);
  await lastMailTo(stranger, 16);
});

test('emails of all kinds share the limit', async () => {
  const ada = await registerVerified();
  for (let i = 0; i < 5; i++) await asVisitor('/api/forgot-password', { email: ada.email });
  await lastMailTo(ada.email, 5);
  const bob = await registerVerified();
  await login(ada.email, ada.password);
  await untilHeld(ada.email, 1);
  await login(bob.email, bob.password);
  await lastMailTo(bob.email, 1);
  expect(mailsTo(ada.email)).toHaveLength(5);
});

test('notices beyond the limit become one email after an hour, which says how often each happened', async () => {
  const ada = await registerVerified();
  for (let i = 0; i < 5; i++) await login(ada.email, ada.password);
  await lastMailTo(ada.email, 5);
  for (let i = 0; i < 3; i++) await login(ada.email, ada.password);
  await untilHeld(ada.email, 3);
  const change = { current_password: ada.password, password: 'a new horse battery' };
  expect(outcomeOf(await ada.asSession('POST', '/api/change-password', change))).toBe('200 ok');
  await untilHeld(ada.email, 4);
  await runHourly();
  expect(mailsTo(ada.email)).toHaveLength(5);

  vi.advanceTimersByTime(HOUR_MS);
  await runHourly();
  const { subject, text } = await lastMailTo(ada.email, 6);
  expect(subject).toBe('What happened in your account');
  expect(text).toContain('New sign-in to your account (3 times, the last shown).');
  expect(text).toContain('Your password has changed. The password of');
  expect(text).toContain('https://latchkey.test/forgot-password');
  expect(await heldFor(ada.email)).toEqual([]);
  await runHourly();
  expect(mailsTo(ada.email)).toHaveLength(6);
});

test('one held notice is sent as it is, and one that can’t be sent stays for the next run', async () => {
  const to = 'single@example.com';
  const letter = { to, content, accountId: 'acct_x', isUnverified: false };
  for (let i = 0; i < 6; i++) await sendMail(env, letter);
  expect(mailsTo(to)).toHaveLength(5);
  vi.advanceTimersByTime(HOUR_MS);
  const log = captureLogs();
  const EMAIL = { send: () => Promise.reject(new Error('The sender is not verified.')) };
  await runHourly({ ...env, EMAIL });
  expect(log.stop()).toContain('"event":"mail_not_sent"');
  expect(await heldFor(to)).toEqual([{ subject: content.subject, times: 1 }]);
  vi.advanceTimersByTime(HOUR_MS);
  await runHourly();
  expect(subjectsTo(to)).toEqual(Array.from({ length: 6 }, () => content.subject));
});

test('a notice that can’t be sent is sent by a later run', async () => {
  const to = 'later@example.com';
  const log = captureLogs();
  const stop = sendMailsBy(() => Promise.reject(new Error('The sender is not verified.')));
  expect(await sendMail(env, { to, content, accountId: 'acct_x', isUnverified: false })).toBe(true);
  stop();
  expect(log.stop()).toContain('"event":"mail_not_sent"');
  await runHourly();
  expect(mailsTo(to)).toEqual([]);
  vi.advanceTimersByTime(HOUR_MS);
  await runHourly();
  await runHourly();
  expect(subjectsTo(to)).toEqual([content.subject]);
});

test('addresses that no email reaches hold up nobody else’s, and are given up after three days', async () => {
  const held = { subject: content.subject, accountId: 'acct_x', content, dueAt: Date.now() };
  const refused = Array.from({ length: 200 }, (_, i) => ({ ...held, email: `no-${i}@refused.example` }));
  const to = 'reached@example.com';
  for (const row of [...refused, { ...held, email: to, dueAt: Date.now() + 1 }])
    await publicCtx.firstDb.insert(heldNotices).values(row);
  const send = (mail: EmailMessage) =>
    mail.to.endsWith('@refused.example')
      ? Promise.reject(new Error('The recipient is invalid.'))
      : env.EMAIL.send(mail);
  const ctx = { db: publicCtx.firstDb, env: { ...env, EMAIL: { send } as SendEmail } };
  captureLogs();
  for (let i = 0; i < 3; i++) {
    vi.advanceTimersByTime(HOUR_MS);
    await sendHeldNotices(ctx);
  }
  expect(subjectsTo(to)).toEqual([content.subject]);
  expect(await heldFor('no-7@refused.example')).toHaveLength(1);
  vi.advanceTimersByTime(4 * DAY_MS);
  await sendHeldNotices(ctx);
  expect(await heldFor('no-7@refused.example')).toEqual([]);
});

test('an account with an unverified address sends two emails a day, and what is held once a day', async () => {
  const email = 'squatted@example.com';
  const password = 'correct horse battery';
  const { body } = await asVisitor('/api/register', { email, password });
  await lastMailTo(email, 1);
  for (let i = 0; i < 6; i++) await login(email, password);
  await untilHeld(email, 5);
  const headers = { authorization: `Bearer ${body.session.token}` };
  expect(outcomeOf(await asVisitor('/api/resend-verification', undefined, headers))).toBe('202 ok');
  for (let hour = 0; hour < 23; hour++) {
    vi.advanceTimersByTime(HOUR_MS);
    await runHourly();
  }
  expect(mailsTo(email)).toHaveLength(2);
  vi.advanceTimersByTime(HOUR_MS);
  await runHourly();
  expect((await lastMailTo(email, 3)).text).toContain(
    'New sign-in to your account (5 times, the last shown).',
  );
});

test('an unverified account that somebody else made doesn’t keep the address from its owner', async () => {
  const email = 'owner@example.com';
  const { body } = await asVisitor('/api/register', { email, password: 'correct horse battery' });
  const headers = { authorization: `Bearer ${body.session.token}` };
  for (let i = 0; i < 4; i++) await asVisitor('/api/resend-verification', undefined, headers);
  await lastMailTo(email, 2);
  await asVisitor('/api/forgot-password', { email });
  expect((await lastMailTo(email, 3)).subject).toBe('Reset your password');
});

/** Uses up the emails of a day as strangers can: accounts of theirs ask to change their address to this one. */
const flood = async (email: string, count: number) => {
  const strangers = await Promise.all(Array.from({ length: 5 }, registerVerified));
  for (let sent = 5; sent <= 15; sent += 5) {
    for (const eve of strangers) {
      await eve.prove();
      expect(outcomeOf(await askFor(eve, email))).toBe('202 ok');
    }
    await waitUntil(() => mailsTo(email).length === count + sent);
    vi.advanceTimersByTime(HOUR_MS + 1);
  }
};

const forget = (email: string) =>
  sendReset(publicCtx, email, {
    ip: freshAddress(),
    origin: ORIGIN,
    userAgent: null,
    previousToken: null,
    browserToken: null,
  });
const links = (email: string) =>
  subjectsTo(email).filter((subject) => subject === 'Reset your password').length;

test('strangers can’t use up the emails by which the owner gets back in', async () => {
  const ada = await registerVerified();
  const password = 'a new horse battery';
  // Strangers are not told that the address is taken.
  const unknown = 'nobody-yet@example.com';
  await flood(unknown, 0);
  const { body } = await asVisitor('/api/register', { email: unknown, password });
  await lastMailTo(unknown, 16);
  expect(body.account.email_verified).toBe(false);

  for (const sent of [5, 10, 15, 16]) {
    for (let i = 0; i < 5; i++) await forget(ada.email);
    expect(links(ada.email)).toBe(sent);
    vi.advanceTimersByTime(HOUR_MS + 1);
  }
  for (let minute = 0; minute < 60; minute += 3) {
    await forget(ada.email);
    vi.advanceTimersByTime(3 * 60_000 - 1_000);
  }
  // What strangers asked for at the beginning of the hour still works at its end.
  const token = await tokenTo(ada.email, 17);
  expect(outcomeOf(await asVisitor('/api/reset-password', { token, password }))).toBe('200 ok');
});

test('a notice is sent while D1 is away, and what can be asked for again is not', async () => {
  const [told, asked] = ['told@example.com', 'asked@example.com'];
  const about = { accountId: 'acct_x', isUnverified: false };
  const log = captureLogs();
  await withoutTables(['throttles'], async () => {
    await sendMail(env, { ...about, to: told, content });
    await sendMail(env, { ...about, to: asked, content: accountErased() });
  });
  expect(log.stop()).toContain('"event":"mail_not_sent"');
  expect([mailsTo(told).length, mailsTo(asked).length]).toEqual([1, 0]);
});
