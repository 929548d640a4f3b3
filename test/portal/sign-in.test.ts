import { beforeAll, expect, test } from 'vitest';
import { outcomeOf, signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { keepMails, lastMailTo, mailsTo, sendMailsBy } from '../support/mails.ts';
import {
  freshEmail,
  openPortal,
  sellerWithCustomer,
  signInByApplication,
  signInWith,
  tokenIn,
  visit,
} from '../support/portal.ts';
import { verifyAddress } from '../support/sign-in.ts';
import { waitUntil } from '../support/wait-until.ts';

beforeAll(keepMails);

test('a customer signs in with the link of an email, once', async () => {
  const { ada, slug, email, license } = await sellerWithCustomer();
  expect((await visit(slug, 'POST', '/sign-in', { email: ` ${email.toUpperCase()} ` })).body).toEqual({
    accepted: true,
  });
  const mail = await lastMailTo(email);
  expect(mail.from).toMatchObject({ name: 'Orrery' });
  expect(mail).toMatchObject({ replyTo: ada.email, subject: 'Sign in to Orrery' });
  const token = tokenIn(mail.text);
  expect(mail.text).toContain(`https://latchkey.test/portal/${slug}#token=${token}`);
  expect(outcomeOf(await visit(slug, 'GET', '/licenses'))).toBe('401 portal_session_required');

  const answers = await Promise.all([1, 2, 3].map(() => visit(slug, 'POST', '/session', { token })));
  expect(answers.map(outcomeOf).toSorted()).toEqual(['200 ok', '400 invalid_token', '400 invalid_token']);
  const signedIn = answers.find(({ status }) => status === 200);
  const header = signedIn?.headers.get('set-cookie') ?? '';
  expect(header).toMatch(/^__Host-portal=lkp_\w+; .*Path=\/.*HttpOnly; Secure; SameSite=Lax/);
  const cookie = header.split(';')[0] ?? '';
  expect(signedIn?.body).toMatchObject({ email, return_url: null, email_change: null });
  const { body } = await visit(slug, 'GET', '/licenses', undefined, { cookie });
  expect(body.data).toMatchObject([{ id: license.id }]);
  const stored = JSON.stringify([
    await accountsD1.prepare('SELECT * FROM portal_sessions').all(),
    await accountsD1.prepare('SELECT * FROM portal_tokens').all(),
  ]);
  expect(stored).not.toContain(token);
  expect(stored).not.toContain(cookie.split('=')[1]);
});

test('the answer is the same for an address that the seller doesn’t know, and nothing is sent', async () => {
  const { slug } = await sellerWithCustomer();
  const other = await sellerWithCustomer();
  const unknown = freshEmail('nobody');
  for (const body of [
    { email: unknown },
    { email: other.email },
    { license_key: other.license.license_key },
    { license_key: 'NO-SUCH-KEY' },
  ])
    expect((await visit(slug, 'POST', '/sign-in', body)).body).toEqual({ accepted: true });
  // One that is known, so that the others would be there by now.
  await visit(other.slug, 'POST', '/sign-in', { email: other.email });
  await lastMailTo(other.email);
  expect(mailsTo(unknown)).toEqual([]);
  expect(mailsTo('erased@customer.invalid')).toEqual([]);
});

test('the answer waits for no email, so its time tells nothing of the address', async () => {
  const { slug, email } = await sellerWithCustomer();
  const sending = Promise.withResolvers<void>();
  let asked = 0;
  const stop = sendMailsBy(async () => {
    asked++;
    await sending.promise;
    return { messageId: '<1@example.com>' };
  });
  expect((await visit(slug, 'POST', '/sign-in', { email })).status).toBe(202);
  await waitUntil(() => asked === 1);
  sending.resolve();
  stop();
});

test('an address gets three emails an hour, whichever sellers’ portals are asked', async () => {
  const { slug, email } = await sellerWithCustomer();
  const other = await sellerWithCustomer();
  await other.ada.createLicense({ customer_email: email });
  for (const portal of [slug, other.slug, slug, other.slug, slug]) {
    expect((await visit(portal, 'POST', '/sign-in', { email })).status).toBe(202);
    await waitUntil(() => mailsTo(email).length > 0);
  }
  await waitUntil(() => mailsTo(email).length === 3);
  await signInByApplication(other.ada, other.slug, { customer_email: email });
  expect(mailsTo(email)).toHaveLength(3);
  await signInWith(slug, { token: tokenIn(mailsTo(email)[0]?.text ?? '') });
});

test('a customer signs in with a license key and the code that its address gets', async () => {
  const { slug, email, license } = await sellerWithCustomer();
  const typed = license.license_key.toLowerCase().replaceAll('-', ' ');
  await visit(slug, 'POST', '/sign-in', { license_key: typed });
  const code = /Code: (\d{6})/.exec((await lastMailTo(email)).text)?.[1] ?? '';
  const wrong = code === '000000' ? '111111' : '000000';
  const attempt = (sent: object) => visit(slug, 'POST', '/session', sent);
  expect(outcomeOf(await attempt({ license_key: license.license_key, code: wrong }))).toBe(
    '400 invalid_token',
  );
  expect(outcomeOf(await attempt({ license_key: 'NO-SUCH-KEY', code }))).toBe('400 invalid_token');
  const { asCustomer } = await signInWith(slug, {
    license_key: typed,
    code: ` ${code.slice(0, 3)} ${code.slice(3)}`,
  });
  expect((await asCustomer('GET', '/licenses')).body.data).toMatchObject([{ id: license.id }]);
  expect(outcomeOf(await attempt({ license_key: license.license_key, code }))).toBe('400 invalid_token');
});

test('a code takes five guesses, also at once, and guesses from one address are paced', async () => {
  const { slug, email, license } = await sellerWithCustomer();
  const { license_key } = license;
  await visit(slug, 'POST', '/sign-in', { license_key });
  const code = /Code: (\d{6})/.exec((await lastMailTo(email)).text)?.[1] ?? '';
  const wrong = (i: number) => String((Number(code) + 1 + i) % 1_000_000).padStart(6, '0');
  const guess = (i: number) => visit(slug, 'POST', '/session', { license_key, code: wrong(i) });
  await Promise.all([0, 1, 2, 3, 4].map(guess));
  expect(outcomeOf(await visit(slug, 'POST', '/session', { license_key, code }))).toBe('400 invalid_token');
  const from = { 'cf-connecting-ip': '192.0.2.77' };
  const outcomes: string[] = [];
  for (let i = 0; i < 21; i++)
    outcomes.push(
      outcomeOf(await visit(slug, 'POST', '/session', { license_key: `KEY-NUMBER-${i}`, code }, from)),
    );
  expect(new Set(outcomes.slice(0, 20))).toEqual(new Set(['400 invalid_token']));
  expect(outcomes[20]).toBe('429 rate_limit_exceeded');
});

test('a link of one portal is worth nothing in another, nor after it has expired', async () => {
  const { slug, email } = await sellerWithCustomer();
  const other = await sellerWithCustomer();
  await visit(slug, 'POST', '/sign-in', { email });
  const token = tokenIn((await lastMailTo(email)).text);
  expect(outcomeOf(await visit(other.slug, 'POST', '/session', { token }))).toBe('400 invalid_token');
  await accountsD1.prepare('UPDATE portal_tokens SET expires_at = 1 WHERE email = ?').bind(email).run();
  expect(outcomeOf(await visit(slug, 'POST', '/session', { token }))).toBe('400 invalid_token');
});

test('an application opens the portal for a customer, or for one license', async () => {
  const { ada, slug, email, license } = await sellerWithCustomer();
  const later = await ada.createLicense({ customer_email: email });
  const opened = await ada.asKey('POST', '/api/v1/portal-sessions', {
    customer_email: email.toUpperCase(),
    return_url: 'https://app.example.com/settings',
  });
  expect(outcomeOf(opened)).toBe('200 ok');
  expect(opened.body.url).toMatch(new RegExp(`^https://latchkey.test/portal/${slug}#token=lkl_\\w+$`));
  const leftMs = Date.parse(opened.body.expires_at) - Date.now();
  expect(leftMs > 290_000 && leftMs <= 300_000).toBe(true);
  const { asCustomer, session } = await signInWith(slug, { token: tokenIn(opened.body.url) });
  expect(session.return_url).toBe('https://app.example.com/settings');
  expect((await asCustomer('GET', '/licenses')).body.data).toMatchObject([
    { id: later.id },
    { id: license.id },
  ]);
  const single = await signInByApplication(ada, slug, { license_id: license.id });
  expect((await single.asCustomer('GET', '/licenses')).body.data).toMatchObject([{ id: license.id }]);
  expect(outcomeOf(await single.asCustomer('GET', `/licenses/${later.id}`))).toBe('404 license_not_found');
  expect((await single.asCustomer('GET', '/sessions')).body.data).toHaveLength(1);
  const outcome = async (body: object) => outcomeOf(await ada.asKey('POST', '/api/v1/portal-sessions', body));
  expect(await outcome({ customer_email: freshEmail() })).toBe('404 not_found');
  expect(await outcome({ license_id: 'lic_none' })).toBe('404 license_not_found');
  expect(await outcome({})).toBe('400 invalid_request');
  expect(await outcome({ license_id: license.id, return_url: 'javascript:alert(1)' })).toBe(
    '400 invalid_request',
  );
  await ada.asSession('PUT', '/api/portal', { enabled: false });
  expect(await outcome({ license_id: license.id })).toBe('403 portal_disabled');
});

test('a seller who is suspended, or is about to be erased, has no portal', async () => {
  const { ada, slug, email } = await sellerWithCustomer();
  const { asCustomer } = await signInByApplication(ada, slug, { customer_email: email });
  for (const column of ['suspended_at', 'erase_at']) {
    const set = (value: number | null) =>
      accountsD1.prepare(`UPDATE accounts SET ${column} = ? WHERE id = ?`).bind(value, ada.accountId).run();
    await set(Date.now() + 1_000_000);
    expect(outcomeOf(await asCustomer('GET', '/licenses'))).toBe('403 portal_disabled');
    await set(null);
  }
  expect(outcomeOf(await asCustomer('GET', '/licenses'))).toBe('200 ok');
});

test('a seller who has proved no address has nobody written to', async () => {
  const ada = await signUp();
  const slug = await openPortal(ada);
  const email = freshEmail();
  const { license_key } = await ada.createLicense({ customer_email: email });
  for (const body of [{ email }, { license_key }])
    expect((await visit(slug, 'POST', '/sign-in', body)).body).toEqual({ accepted: true });
  const { asCustomer } = await signInByApplication(ada, slug, { customer_email: email });
  const stranger = freshEmail('stranger');
  for (const answer of [
    await asCustomer('POST', '/resend-keys', {}),
    await asCustomer('POST', '/change-email', { email: stranger }),
  ])
    expect([outcomeOf(answer), answer.body.error.message]).toEqual([
      '403 portal_disabled',
      'The Seller Can’t Send Emails Yet',
    ]);
  // Another seller's, so that the others would be there by now.
  const other = await sellerWithCustomer();
  await visit(other.slug, 'POST', '/sign-in', { email: other.email });
  await lastMailTo(other.email);
  expect([...mailsTo(email), ...mailsTo(stranger)]).toEqual([]);

  await verifyAddress(ada.accountId);
  await visit(slug, 'POST', '/sign-in', { email });
  expect(await lastMailTo(email)).toMatchObject({ replyTo: ada.email });
});
