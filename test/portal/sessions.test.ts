import { beforeAll, expect, test } from 'vitest';
import { call, type Json, outcomeOf } from '../support/client.ts';
import { keepMails } from '../support/mails.ts';
import {
  openPortal,
  sellerWithCustomer,
  signInByApplication,
  signInByMail,
  visit,
} from '../support/portal.ts';
import { sellerOn } from '../support/worlds.ts';

beforeAll(keepMails);

test('the session’s cookie is worth nothing in the API, in another portal, or from another site', async () => {
  const { ada, slug, email } = await sellerWithCustomer();
  const other = await sellerWithCustomer();
  await other.ada.createLicense({ customer_email: email });
  const { cookie, asCustomer } = await signInByMail(slug, email);
  const token = cookie.split('=')[1] ?? '';
  expect(outcomeOf(await call('GET', '/api/account', { headers: { cookie } }))).toBe('401 api_key_required');
  expect(
    outcomeOf(await call('GET', '/api/account', { headers: { cookie: `__Host-session=${token}` } })),
  ).toBe('401 invalid_session');
  expect(
    outcomeOf(await call('GET', '/api/account', { headers: { authorization: `Bearer ${token}` } })),
  ).toBe('401 invalid_session');
  expect(
    outcomeOf(await visit(slug, 'GET', '/licenses', undefined, { cookie: `__Host-portal=${ada.token}` })),
  ).toBe('401 portal_session_required');
  expect(outcomeOf(await visit(other.slug, 'GET', '/licenses', undefined, { cookie }))).toBe(
    '401 portal_session_required',
  );
  const foreign = { origin: 'https://elsewhere.example' };
  expect(outcomeOf(await asCustomer('GET', '/licenses', undefined, foreign))).toBe('403 origin_not_allowed');
  expect(outcomeOf(await asCustomer('POST', '/resend-keys', {}, { 'sec-fetch-site': 'cross-site' }))).toBe(
    '403 origin_not_allowed',
  );
  expect(outcomeOf(await visit(slug, 'POST', '/session', { token: 'x' }, foreign))).toBe(
    '403 origin_not_allowed',
  );
  expect(
    outcomeOf(await asCustomer('GET', '/licenses', undefined, { origin: 'https://latchkey.test' })),
  ).toBe('200 ok');
});

test.for([
  ['198.51.100.23', '198.51.100.0/24'],
  ['2001:db8:aa:bb::7', '2001:db8:aa::/48'],
] as const)('of a customer at %s, the audit log keeps only the network', async ([ip, network]) => {
  const { ada, slug, email } = await sellerWithCustomer();
  const { asCustomer } = await signInByMail(slug, email);
  await asCustomer('POST', '/resend-keys', {}, { 'cf-connecting-ip': ip });
  const { body } = await ada.asSession('GET', '/api/audit-log?action=customer.send_keys');
  expect(body.data).toMatchObject([{ actor: { kind: 'customer' }, ip: network }]);
});

test('a customer lists their sessions and ends them', async () => {
  const { ada, slug, email } = await sellerWithCustomer();
  const first = await signInByApplication(ada, slug, { customer_email: email });
  const second = await signInByApplication(ada, slug, { customer_email: email });
  const { body } = await second.asCustomer('GET', '/sessions');
  expect(body.data).toMatchObject([{ current: true }, { current: false }]);
  const ended = await first.asCustomer('DELETE', '/session');
  expect([ended.body, ended.headers.get('set-cookie')]).toEqual([
    { ended: 1 },
    expect.stringContaining('Max-Age=0'),
  ]);
  expect(outcomeOf(await first.asCustomer('GET', '/licenses'))).toBe('401 portal_session_required');
  await signInByApplication(ada, slug, { customer_email: email });
  expect((await second.asCustomer('DELETE', '/sessions')).body).toEqual({ ended: 2 });
  expect(outcomeOf(await second.asCustomer('GET', '/licenses'))).toBe('401 portal_session_required');
});

test('a customer’s sessions are listed in pages, the newest first', async () => {
  const { ada, slug, email } = await sellerWithCustomer();
  const signIn = () => signInByApplication(ada, slug, { customer_email: email });
  for (let i = 0; i < 4; i++) await signIn();
  const { asCustomer } = await signIn();
  const { body: whole } = await asCustomer('GET', '/sessions');
  const pages: Json[][] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body } = await asCustomer('GET', `/sessions?limit=2${cursor && `&cursor=${cursor}`}`);
    pages.push(body.data);
    cursor = body.next_cursor;
  }
  expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
  expect(pages.flat()).toEqual(whole.data);
  expect(whole).toMatchObject({ data: [{ current: true }, {}, {}, {}, {}], next_cursor: null });
  const times = whole.data.map(({ created_at }: Json) => created_at);
  expect(times).toEqual(times.toSorted().toReversed());
  const refused = await asCustomer('GET', '/sessions?cursor=1');
  expect(refused.body.error).toMatchObject({ details: [{ path: 'cursor' }] });
});

const MAX_SESSIONS = 20;

test('customers of different licenses end none of each other’s sessions, though all have the seller’s address', async () => {
  const ada = await sellerOn('pro');
  const slug = await openPortal(ada);
  const signIn = (subject: object) => signInByApplication(ada, slug, subject);
  const outcome = async ({ asCustomer }: Awaited<ReturnType<typeof signIn>>) =>
    outcomeOf(await asCustomer('GET', '/licenses'));
  const { id } = await ada.createLicense();
  const first = await signIn({ license_id: id });
  const ofAll = await signIn({ customer_email: ada.email });
  for (let i = 0; i < MAX_SESSIONS; i++) await signIn({ license_id: (await ada.createLicense()).id });
  expect([await outcome(first), await outcome(ofAll)]).toEqual(['200 ok', '200 ok']);
  // Whoever sees all of them still finds their own session among the many.
  const { body } = await ofAll.asCustomer('GET', '/sessions');
  expect(body.data.filter(({ current }: Json) => current)).toHaveLength(1);
  for (let i = 0; i < MAX_SESSIONS; i++) await signIn({ license_id: id });
  expect([await outcome(first), await outcome(ofAll)]).toEqual(['401 portal_session_required', '200 ok']);
  for (let i = 0; i < MAX_SESSIONS; i++) await signIn({ customer_email: ada.email });
  expect(await outcome(ofAll)).toBe('401 portal_session_required');
});
