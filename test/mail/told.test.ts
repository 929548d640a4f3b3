import { env } from 'cloudflare:workers';
import { beforeEach, expect, test, vi } from 'vitest';
import { heldNotices, users, userTokens } from '../../src/db/schema.ts';
import { letterTo } from '../../src/mail/letter.ts';
import { tell } from '../../src/mail/tell.ts';
import { emailChanged, emailTakenBack, tokenUrl } from '../../src/mail/templates.ts';
import { settingsOf } from '../../src/shared/config/settings.ts';
import { seal } from '../../src/shared/crypto/sealing.ts';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import type { MailContent } from '../../src/shared/text/mail-content.ts';
import { newUserToken } from '../../src/users/user-tokens.ts';
import { getUser } from '../../src/users/user.ts';
import { captureLogs } from '../http/security.ts';
import { type Account, ORIGIN, outcomeOf, register } from '../support/client.ts';
import { firstD1, publicCtx } from '../support/databases.ts';
import { finishErasure } from '../support/erasing.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { runHourly } from '../support/hourly.ts';
import { findLeftovers } from '../support/leftovers.ts';
import { heldFor, lastMailTo, mailsTo, senderNow, sendMailsBy } from '../support/mails.ts';
import { asVisitor, login, verifyAddress, withToken } from '../support/sign-in.ts';
import { waitUntil } from '../support/wait-until.ts';

beforeEach(() => {
  useFakeClock();
});

const CHANGED = 'Your password has changed';
const NEW_PASSWORD = 'a new horse battery';

const registerVerified = async () => {
  const ada = await register();
  await verifyAddress(ada.accountId);
  return ada;
};

const changePassword = async (ada: Account) => {
  const body = { current_password: ada.password, password: NEW_PASSWORD };
  expect(outcomeOf(await ada.asSession('POST', '/api/change-password', body))).toBe('200 ok');
};

const untilNothingHeld = (email: string) => waitUntil(async () => (await heldFor(email)).length === 0);

const hourLater = async () => {
  vi.advanceTimersByTime(HOUR_MS);
  await runHourly();
};

const subjectsTo = (email: string) => mailsTo(email).map(({ subject }) => subject);
const wayBackIn = (text: string) =>
  [...text.matchAll(/restore-email#token=(lkt_\w+)$/gm)].map(([, token]) => token);
const restore = (token: string | undefined) => asVisitor('/api/restore-email', { token });

/** Does the work while no email can be sent. Returns what it returns, and what was logged. */
const withoutMail = async <T>(work: () => Promise<T>) => {
  const log = captureLogs();
  const stop = sendMailsBy(() => Promise.reject(new Error('The mail service is down.')));
  const result = await work();
  stop();
  return { result, logged: log.stop() };
};

/** Commits what an email tells, and nothing else, as a process does that dies then. */
const commitTold = async (content: MailContent<'security'>, ada: Account) => {
  const user = await getUser(publicCtx, ada.accountId);
  const [statement] = (await tell(publicCtx, letterTo({ ...user, email: ada.email }, content))).statements;
  if (statement) await publicCtx.firstDb.batch([statement]);
};

test('an email about security is sent at once, once, and leaves nothing behind', async () => {
  const ada = await registerVerified();
  await changePassword(ada);
  await lastMailTo(ada.email, 1);
  await untilNothingHeld(ada.email);
  await hourLater();
  expect(subjectsTo(ada.email)).toEqual([CHANGED]);
});

test('notices of the same kind at the same time are sent one by one', async () => {
  const ada = await registerVerified();
  await Promise.all(Array.from({ length: 4 }, () => login(ada.email, ada.password)));
  await lastMailTo(ada.email, 4);
  await untilNothingHeld(ada.email);
  expect(mailsTo(ada.email).filter(({ text }) => text.includes('So much'))).toEqual([]);
  await hourLater();
  expect(mailsTo(ada.email)).toHaveLength(4);
});

test('no response waits for an email, and the scheduled work leaves one alone that a request is sending', async () => {
  const ada = await registerVerified();
  await publicCtx.firstDb
    .update(users)
    .set({ twoFactorEnabledAt: 1, twoFactorSecret: 'x', twoFactorResetAt: 1 });
  const slow = Promise.withResolvers<EmailSendResult>();
  const sent = vi.fn<(mail: unknown) => Promise<EmailSendResult>>(() => slow.promise);
  const stop = sendMailsBy(sent);
  expect(outcomeOf(await login(ada.email, ada.password))).toBe('200 ok');
  await waitUntil(() => sent.mock.calls.length === 2);
  await runHourly();
  expect(sent).toHaveBeenCalledTimes(2);
  slow.resolve({ messageId: 'x' });
  await untilNothingHeld(ada.email);
  await hourLater();
  expect(sent).toHaveBeenCalledTimes(2);
  stop();
});

test('a request that is late sends nothing once the scheduled work has', async () => {
  const ada = await registerVerified();
  const user = await getUser(publicCtx, ada.accountId);
  const work: Promise<unknown>[] = [];
  const ctx = { ...publicCtx, waitUntil: (late: Promise<unknown>) => void work.push(late) };
  const told = await tell(ctx, letterTo(user, emailTakenBack('x@example.com')));
  const [statement] = told.statements;
  if (statement) await publicCtx.firstDb.batch([statement]);
  vi.advanceTimersByTime(60_000);
  await runHourly();
  await lastMailTo(ada.email, 1);
  told.send();
  await Promise.all(work);
  expect(mailsTo(ada.email)).toHaveLength(1);
});

test('a process that dies between an email and its row sends it twice, and not three times', async () => {
  const ada = await registerVerified();
  const send = senderNow();
  const rename = (from: string, to: string) => firstD1.prepare(`ALTER TABLE ${from} RENAME TO ${to}`).run();
  const log = captureLogs();
  const stop = sendMailsBy(async (mail: unknown) => {
    await rename('held_notices', 'held_gone');
    return send(mail);
  });
  await changePassword(ada);
  await waitUntil(() => log.lines.some((line) => line.includes('mail_not_sent')));
  log.stop();
  stop();
  await rename('held_gone', 'held_notices');
  for (let hour = 0; hour < 3; hour++) await hourLater();
  expect(subjectsTo(ada.email)).toEqual([CHANGED, CHANGED]);
});

test('what happens in an hour without emails is told in one email, whose way back works', async () => {
  const ada = await registerVerified();
  const { logged } = await withoutMail(async () => {
    for (let i = 0; i < 3; i++) await login(ada.email, ada.password);
    await changePassword(ada);
    const { token, row } = newUserToken(publicCtx, ada.accountId, 'change_email', `thief-${ada.email}`);
    await publicCtx.firstDb.insert(userTokens).values(row);
    expect(outcomeOf(await withToken(ada.token, 'POST', '/api/verify-email', { token }))).toBe('200 ok');
    await waitUntil(async () => (await heldFor(ada.email)).reduce((n, { times }) => n + times, 0) === 5);
    const { results } = await firstD1.prepare('SELECT content FROM held_notices').all();
    expect(JSON.stringify(results)).toContain('/restore-email#token=');
    expect(JSON.stringify(results)).not.toContain('lkt_');
    await hourLater();
  });
  expect(logged).toContain('The mail service is down.');
  expect(logged).not.toContain(ada.email);
  await hourLater();
  const { subject, text } = await lastMailTo(ada.email, 1);
  expect(subject).toBe('What happened in your account');
  expect(text).toContain('New sign-in to your account (3 times, the last shown).');
  expect(text).toContain(`${CHANGED}.`);
  expect(await heldFor(ada.email)).toEqual([]);
  const [token] = wayBackIn(text);
  expect(outcomeOf(await restore(token))).toBe('200 ok');
});

test('an email that replaces several names every way back, the oldest first, and each of them works', async () => {
  const ada = await registerVerified();
  const tokens: string[] = [];
  for (const to of ['first@example.com', 'second@example.com']) {
    const { token, row } = newUserToken(publicCtx, ada.accountId, 'restore_email', ada.email);
    await publicCtx.firstDb.insert(userTokens).values(row);
    await commitTold(emailChanged(to, tokenUrl(ORIGIN, 'restore-email', token)), ada);
    tokens.push(token);
    vi.advanceTimersByTime(1_000);
  }
  await hourLater();
  const { text } = await lastMailTo(ada.email, 1);
  expect(new Set(wayBackIn(text))).toEqual(new Set(tokens));
  expect(text).toMatch(new RegExp(`^Take this address back:\n.*#token=${tokens[0]}$`, 'm'));
  for (const token of tokens.toReversed()) expect(outcomeOf(await restore(token))).toBe('200 ok');
});

test('what an earlier version has held is sent', async () => {
  const to = 'earlier@example.com';
  const sealed = await seal(settingsOf(env).sealing, 'lkt_earlier', [to]);
  const { subject, ...rest } = emailChanged('x@example.com', `${ORIGIN}/restore-email#token=${sealed}`);
  const content = { ...rest, kind: 'notice' as const, subject };
  const row = { email: to, subject, accountId: 'acct_x', content, times: 2, dueAt: Date.now() };
  await publicCtx.firstDb.insert(heldNotices).values(row);
  await runHourly();
  const mail = await lastMailTo(to, 1);
  expect(mail.subject).toBe(subject);
  expect(mail.text).toContain(`${ORIGIN}/restore-email#token=lkt_earlier`);
  expect(mail.text).toContain('(2 times, the last shown)');
});

test('nothing is held for a service that sends no mail, nor for an account that is gone', async () => {
  const ada = await registerVerified();
  const letter = letterTo(await getUser(publicCtx, ada.accountId), emailTakenBack('x@example.com'));
  const mute = { ...publicCtx, env: { ...env, MAIL_FROM: '' } };
  expect((await tell(mute, letter)).statements).toEqual([]);
  const [statement] = (await tell(publicCtx, { ...letter, accountId: 'acct_gone' })).statements;
  if (statement) await publicCtx.firstDb.batch([statement]);
  expect(await heldFor(ada.email)).toEqual([]);
});

test('the erasure of an account ends what is held for it', async () => {
  const ada = await registerVerified();
  await withoutMail(async () => {
    await changePassword(ada);
    const body = { current_password: NEW_PASSWORD, confirm: ada.email };
    expect(outcomeOf(await ada.asSession('DELETE', '/api/account', body))).toBe('202 ok');
    await waitUntil(async () => (await heldFor(ada.email)).length === 2);
    await finishErasure(ada.accountId);
  });
  expect(await findLeftovers(ada.accountId, [ada.accountId, ada.email])).toEqual([]);
});
