import { eq } from 'drizzle-orm';
import { sessions, users } from '../../src/db/schema.ts';
import { newSession } from '../../src/sessions/sessions.ts';
import { call, freshAddress } from './client.ts';
import { publicCtx } from './databases.ts';

type Headers = Record<string, string>;

/** Sends what somebody who isn't signed in sends, by default from an address of their own. */
export const asVisitor = (path: string, body: unknown, headers: Headers = {}) =>
  call('POST', path, { body, headers: { 'cf-connecting-ip': freshAddress(), ...headers } });

export const login = (email: string, password: string, ip = freshAddress()) =>
  asVisitor('/api/login', { email, password }, { 'cf-connecting-ip': ip });

/** Calls with the token of any session. */
export const withToken = (token: string, method = 'GET', path = '/api/account', body?: unknown) =>
  call(method, path, { body, headers: { authorization: `Bearer ${token}` } });

/** Stores another session of the account and returns its token. */
export const addSession = async (accountId: string) => {
  const { session, row } = newSession(publicCtx, accountId, Date.now());
  await publicCtx.firstDb.insert(sessions).values(row);
  return session.token;
};

/** Has the address of the account verified, as the link in its email does. */
export const verifyAddress = (accountId: string) =>
  publicCtx.firstDb.update(users).set({ emailVerifiedAt: 1 }).where(eq(users.accountId, accountId));
