import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { userTokens } from '../../src/db/schema.ts';
import { WebhookOutbox } from '../../src/index.ts';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import { newUserToken } from '../../src/users/user-tokens.ts';
import { type Account, call, type Json, outcomeOf, PASSWORD, register, signUp } from '../support/client.ts';
import { accountsD1, firstD1, publicCtx } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { runHourly } from '../support/hourly.ts';
import { mailsTo } from '../support/mails.ts';
import { asOperator, withOperatorToken } from '../support/operator.ts';
import { addSession, asVisitor, login, verifyAddress, withToken } from '../support/sign-in.ts';
import { enableTwoFactor } from '../support/two-factor.ts';
import { waitUntil } from '../support/wait-until.ts';

beforeEach(() => {
  useFakeClock();
});

const NEW_PASSWORD = 'a new horse battery';

const registerVerified = async () => {
  const ada = await register();
  await verifyAddress(ada.accountId);
  return ada;
};

/** Changes the address as whoever has a session of the account, and reads the new address's emails. */
const changeTo = async (
  { accountId, token: session }: Pick<Account, 'accountId' | 'token'>,
  email: string,
) => {
  const { token, row } = newUserToken(publicCtx, accountId, 'change_email', email);
  await publicCtx.firstDb.insert(userTokens).values(row);
  expect(outcomeOf(await withToken(session, 'POST', '/api/verify-email', { token }))).toBe('200 ok');
};

const mailTo = async (email: string, subject: string) => {
  await waitUntil(() => mailsTo(email).some((mail) => mail.subject === subject));
  return mailsTo(email).findLast((mail) => mail.subject === subject)?.text ?? '';
};
const tokenIn = (text: string, page: string) =>
  new RegExp(`/${page}#token=(lkt_\\w+)$`, 'm').exec(text)?.[1] ?? '';
const CHANGED = 'Your email address has changed';
const wayBackOf = async (email: string) => tokenIn(await mailTo(email, CHANGED), 'restore-email');
const restore = (token: string) => asVisitor('/api/restore-email', { token });
const emailOf = ({ accountId }: Account) =>
  firstD1.prepare('SELECT email FROM users WHERE account_id = ?').bind(accountId).first('email');

/** Chooses a new password with the link that the address got with its account. */
const resetBy = async (email: string) => {
  const token = tokenIn(await mailTo(email, 'Your account has its email address back'), 'reset-password');
  return asVisitor('/api/reset-password', { token, password: NEW_PASSWORD });
};

test('the old address takes a changed one back with the link that it got, once', async () => {
  const ada = await registerVerified();
  const thief = `thief-${ada.email}`;
  await login(ada.email, ada.password);
  await changeTo(ada, thief);
  const token = await wayBackOf(ada.email);
  const answers = await Promise.all(Array.from({ length: 5 }, () => restore(token)));
  expect(answers.map(outcomeOf).toSorted()).toEqual([
    '200 ok',
    ...Array<string>(4).fill('400 invalid_token'),
  ]);
  expect(answers.find(({ status }) => status === 200)?.body).toEqual({ email: ada.email, restored: true });

  expect(outcomeOf(await withToken(ada.token))).toBe('401 invalid_session');
  for (const email of [thief, ada.email])
    expect(outcomeOf(await login(email, ada.password))).toBe('401 invalid_credentials');
  const browsers = firstD1.prepare('SELECT count(*) AS n FROM known_browsers WHERE account_id = ?');
  expect(await browsers.bind(ada.accountId).first('n')).toBe(0);
  const copy = accountsD1.prepare('SELECT email FROM accounts WHERE id = ?').bind(ada.accountId);
  expect(await copy.first('email')).toBe(ada.email);
  expect(await mailTo(thief, 'Your email address has changed back')).toContain(ada.email);

  const reset = await resetBy(ada.email);
  expect(outcomeOf(reset)).toBe('200 ok');
  const session = reset.body.session.token;
  expect((await withToken(session)).body).toMatchObject({ email: ada.email, email_verified: true });
  const { body } = await withToken(session, 'GET', '/api/audit-log?action=email.restore');
  expect(body.data).toMatchObject([{ action: 'email.restore', actor: { kind: 'session', id: null } }]);
});

test('a thief who changes the address twice, the password, and two-factor doesn’t outlive it', async () => {
  const ada = await registerVerified();
  const [thief, second] = [`thief-${ada.email}`, `second-${ada.email}`];
  await changeTo(ada, thief);
  await changeTo(ada, second);
  const changed = { current_password: ada.password, password: 'the thief’s password' };
  expect((await ada.asSession('POST', '/api/change-password', changed)).status).toBe(200);
  const { code, recoveryCodes } = await enableTwoFactor(ada);
  const pending = newUserToken(publicCtx, ada.accountId, 'change_email', `third-${ada.email}`);
  await publicCtx.firstDb.insert(userTokens).values(pending.row);

  expect(outcomeOf(await restore(await wayBackOf(ada.email)))).toBe('200 ok');
  expect(await emailOf(ada)).toBe(ada.email);
  expect(outcomeOf(await restore(await wayBackOf(thief)))).toBe('400 invalid_token');
  expect(outcomeOf(await login(ada.email, changed.password))).toBe('401 invalid_credentials');
  const late = { token: pending.token, password: changed.password };
  expect(outcomeOf(await asVisitor('/api/verify-email', late))).toBe('400 invalid_token');
  const reset = await resetBy(ada.email);
  expect(outcomeOf(reset)).toBe('200 ok');
  const off = { current_password: NEW_PASSWORD, code: code(1) };
  expect(outcomeOf(await withToken(reset.body.session.token, 'DELETE', '/api/two-factor', off))).toBe(
    '409 invalid_transition',
  );
  expect(recoveryCodes).toHaveLength(10);
  const codes = firstD1.prepare('SELECT count(*) AS n FROM recovery_codes WHERE account_id = ?');
  expect(await codes.bind(ada.accountId).first('n')).toBe(0);
});

/** What the owner has from before the change, and what a thief makes and changes after it. */
const robbed = async () => {
  const ada = await signUp();
  await verifyAddress(ada.accountId);
  const url = 'https://ada.example.com/hook';
  const webhook = async (sent: object) => (await ada.asSession('POST', '/api/webhooks', sent)).body.id;
  const [quiet, moved] = [await webhook({ url }), await webhook({ url })];
  vi.advanceTimersByTime(60_000);
  await changeTo(ada, `thief-${ada.email}`);
  vi.advanceTimersByTime(60_000);
  const thiefs = (await ada.asSession('POST', '/api/create-api-key', {})).body.api_key as string;
  const hook = { url: 'https://thief.example.net/hook' };
  const made = await webhook(hook);
  expect((await ada.asSession('PATCH', `/api/webhooks/${moved}`, hook)).status).toBe(200);
  const useKey = async () =>
    outcomeOf(await call('GET', '/api/v1/licenses', { headers: { 'x-api-key': thiefs } }));
  expect(await useKey()).toBe('200 ok');
  const webhooks = async (): Promise<Json[]> => (await ada.asKey('GET', '/api/webhooks')).body.data;
  return { ada, quiet, moved, made, useKey, webhooks };
};

test('keys and webhooks that were made since the change end, and those of before stay', async () => {
  const { ada, quiet, moved, useKey, webhooks } = await robbed();
  expect(outcomeOf(await restore(await wayBackOf(ada.email)))).toBe('200 ok');
  expect(await useKey()).toBe('403 api_key_invalid');
  expect(await webhooks()).toMatchObject([
    { id: moved, status: 'disabled' },
    { id: quiet, status: 'enabled' },
  ]);
  const actions = (await ada.asKey('GET', '/api/audit-log')).body.data.map(({ action }: Json) => action);
  expect(actions).toEqual(expect.arrayContaining(['api_key.delete', 'webhook.delete', 'webhook.update']));
});

test('an account that is full, or whose outbox is away for a while, gets its address back all the same', async () => {
  const { ada, useKey, webhooks } = await robbed();
  await accountsD1.prepare('UPDATE license_totals SET bytes = 1e12').run();
  const token = await wayBackOf(ada.email);
  const away = vi.spyOn(WebhookOutbox.prototype, 'listEndpoints').mockImplementation(() => {
    throw new Error('overloaded');
  });
  expect((await restore(token)).status).toBe(500);
  away.mockRestore();
  // Nobody can use the account meanwhile.
  expect(outcomeOf(await withToken(ada.token))).toBe('401 invalid_session');
  expect(outcomeOf(await login(ada.email, ada.password))).toBe('401 invalid_credentials');
  expect(outcomeOf(await restore(token))).toBe('200 ok');
  expect(outcomeOf(await restore(token))).toBe('400 invalid_token');
  expect(await useKey()).toBe('403 api_key_invalid');
  expect(await webhooks()).toHaveLength(2);
  expect(outcomeOf(await resetBy(ada.email))).toBe('200 ok');
});

test('two-factor that a thief has turned on before the change stays on, until the operator resets it', async () => {
  onTestFinished(withOperatorToken());
  const ada = await enableTwoFactor(await registerVerified());
  vi.advanceTimersByTime(60_000);
  await changeTo({ ...ada, token: await addSession(ada.accountId) }, `thief-${ada.email}`);
  expect(outcomeOf(await restore(await wayBackOf(ada.email)))).toBe('200 ok');
  expect(await mailTo(ada.email, 'Your account has its email address back')).toContain('ask the operator');
  expect(outcomeOf(await resetBy(ada.email))).toBe('401 two_factor_required');
  await asOperator('POST', `/operator/accounts/${ada.accountId}/reset-two-factor`);
  vi.advanceTimersByTime(2 * DAY_MS);
  expect(outcomeOf(await login(ada.email, NEW_PASSWORD))).toBe('200 ok');
});

test('a thief who takes their own address back doesn’t keep the owner from theirs', async () => {
  const ada = await registerVerified();
  const thief = `thief-${ada.email}`;
  await changeTo(ada, thief);
  vi.advanceTimersByTime(60_000);
  await changeTo(ada, `second-${ada.email}`);
  expect(outcomeOf(await restore(await wayBackOf(thief)))).toBe('200 ok');
  expect(await emailOf(ada)).toBe(thief);
  expect(outcomeOf(await restore(await wayBackOf(ada.email)))).toBe('200 ok');
  expect(await emailOf(ada)).toBe(ada.email);
});

test('two-factor that was on before the change stays on', async () => {
  const ada = await enableTwoFactor(await registerVerified());
  vi.advanceTimersByTime(60_000);
  const session = { ...ada, token: await addSession(ada.accountId) };
  await changeTo(session, `new-${ada.email}`);
  expect(outcomeOf(await restore(await wayBackOf(ada.email)))).toBe('200 ok');
  const reset = await resetBy(ada.email);
  expect(outcomeOf(reset)).toBe('401 two_factor_required');
  const challenge = reset.body.error.details[0].message;
  const [code] = ada.recoveryCodes;
  expect(outcomeOf(await asVisitor('/api/login/two-factor', { challenge, code }))).toBe('200 ok');
});

test('the link works for seven days, in which nobody else gets the address', async () => {
  const [ada, bob] = [await registerVerified(), await registerVerified()];
  await changeTo(ada, `new-${ada.email}`);
  const token = await wayBackOf(ada.email);
  const change = { email: ada.email, current_password: bob.password };
  const take = async () => [
    outcomeOf(await asVisitor('/api/register', { email: ada.email, password: PASSWORD })),
    outcomeOf(await bob.asSession('POST', '/api/change-email', change)),
  ];
  expect(await take()).toEqual(['409 email_taken', '409 email_taken']);
  const asked = newUserToken(publicCtx, bob.accountId, 'change_email', ada.email);
  await publicCtx.firstDb.insert(userTokens).values(asked.row);
  const confirm = { token: asked.token, password: bob.password };
  expect(outcomeOf(await asVisitor('/api/verify-email', confirm))).toBe('409 email_taken');
  vi.advanceTimersByTime(7 * DAY_MS);
  expect(outcomeOf(await restore(token))).toBe('400 invalid_token');
  expect((await take())[0]).toBe('201 ok');
});

test('an address that was never proved can’t be taken back', async () => {
  const ada = await register();
  await changeTo(ada, `right-${ada.email}`);
  const text = await mailTo(ada.email, CHANGED);
  expect(text).not.toContain('#token=');
  expect(text).toContain('contact the operator');
});

test('a link that is beyond the address’s limit of emails is stored sealed, and comes later', async () => {
  const ada = await registerVerified();
  for (let i = 0; i < 5; i++) await asVisitor('/api/forgot-password', { email: ada.email });
  await waitUntil(() => mailsTo(ada.email).length === 5);
  await changeTo(ada, `new-${ada.email}`);
  const held = firstD1.prepare('SELECT content FROM held_notices WHERE email = ?').bind(ada.email);
  const content = await waitUntil(async () => held.first<string>('content'));
  expect(content).toContain('/restore-email#token=');
  expect(content).not.toContain('lkt_');
  vi.advanceTimersByTime(HOUR_MS + 1);
  await runHourly();
  expect(outcomeOf(await restore(await wayBackOf(ada.email)))).toBe('200 ok');
});
