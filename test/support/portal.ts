import { expect } from 'vitest';
import { call, type Customer, freshAddress, type Json, signUp } from './client.ts';
import { lastMailTo } from './mails.ts';
import { verifyAddress } from './sign-in.ts';

let portals = 0;
const freshSlug = () => `portal-${++portals}-${crypto.randomUUID().slice(0, 6)}`;

/** Switches a seller's portal on. Returns its slug. */
export const openPortal = async (ada: Customer, settings: Json = {}): Promise<string> => {
  const slug = freshSlug();
  const { status, body } = await ada.asSession('PUT', '/api/portal', {
    enabled: true,
    slug,
    name: 'Orrery',
    ...settings,
  });
  if (status !== 200) throw new Error(`PUT /api/portal answered ${JSON.stringify(body)}`);
  return body.slug;
};

/** What anybody can call in a portal. */
export const visit = (
  slug: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) =>
  call(method, `/portal-api/${slug}${path}`, {
    body,
    headers: { 'cf-connecting-ip': freshAddress(), ...headers },
  });

export const tokenIn = (text: string): string => /#token=(\w+)/.exec(text)?.[1] ?? '';

const cookieOf = (headers: Headers) => headers.get('set-cookie')?.split(';')[0] ?? '';

/** Signs a customer in with a token, and returns what calls with the session. */
export const signInWith = async (slug: string, body: Json) => {
  const answer = await visit(slug, 'POST', '/session', body);
  expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
  const cookie = cookieOf(answer.headers);
  const asCustomer = (method: string, path: string, sent?: unknown, headers: Record<string, string> = {}) =>
    visit(slug, method, path, sent, { cookie, ...headers });
  return { cookie, asCustomer, session: answer.body };
};

/** Signs a customer in by email. `count` is how many emails the address has got by then. */
export const signInByMail = async (slug: string, email: string, count = 1) => {
  expect((await visit(slug, 'POST', '/sign-in', { email })).status).toBe(202);
  const { text } = await lastMailTo(email, count);
  return signInWith(slug, { token: tokenIn(text) });
};

/** Signs a customer in with a link of the seller's application, which sends no email. */
export const signInByApplication = async (ada: Customer, slug: string, subject: Json) => {
  const { body } = await ada.asKey('POST', '/api/v1/portal-sessions', subject);
  return signInWith(slug, { token: tokenIn(body.url) });
};

let people = 0;
export const freshEmail = (name = 'eve') =>
  `${name}-${++people}-${crypto.randomUUID().slice(0, 6)}@example.com`;

/** A seller with a portal, who may send emails, and one customer. */
export const sellerWithCustomer = async (settings = {}) => {
  const ada = await signUp();
  await verifyAddress(ada.accountId);
  const slug = await openPortal(ada, settings);
  const email = freshEmail();
  const license = await ada.createLicense({ customer_email: email });
  return { ada, slug, email, license };
};
