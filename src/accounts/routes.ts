import { Hono } from 'hono';
import { type AppEnv, publicCtx } from '../http/context.ts';
import { body } from '../http/input.ts';
import { endpoint } from '../auth/endpoint.ts';
import { changeAccount, getAccount } from './account.ts';
import { clientIp } from '../http/client-ip.ts';
import { clientLocation } from '../http/client-location.ts';
import { findMove } from '../regions/home.ts';
import { listBranches } from '../regions/regions.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { register } from './register.ts';
import {
  accountDetailsBody,
  loggedOutBody,
  loginInput,
  patchAccountInput,
  registerInput,
  signedInBody,
  toAccountDetails,
  toSignedIn,
} from './schemas.ts';
import { clearSessionCookie, readSessionToken, setSessionCookie } from '../auth/session-cookie.ts';

export const accountRoutes = new Hono<AppEnv>()
  .post(
    '/register',
    endpoint({
      id: 'register',
      tag: 'Account',
      summary: 'Create an account',
      description: 'Also signs in: the response contains a session token and sets the session cookie.',
      access: 'public',
      answers: [{ status: 201, description: 'The new account and its first session.', schema: signedInBody }],
      errors: ['email_taken', 'rate_limit_exceeded'],
    }),
    body(registerInput),
    async (c) => {
      const client = { ip: clientIp(c), location: clientLocation(c) };
      const { account, session } = await register(publicCtx(c), c.req.valid('json'), client);
      setSessionCookie(c, session);
      return c.json(toSignedIn(account, session), 201);
    },
  )
  .post(
    '/login',
    endpoint({
      id: 'login',
      tag: 'Account',
      summary: 'Sign in',
      description: 'Starts a new session. If the request carries a session, that session ends.',
      access: 'public',
      answers: [{ status: 200, description: 'The account and a new session.', schema: signedInBody }],
      errors: ['invalid_credentials', 'rate_limit_exceeded'],
    }),
    body(loginInput),
    async (c) => {
      const client = { ip: clientIp(c), previousToken: readSessionToken(c)?.token ?? null };
      const attempt = login(publicCtx(c), c.req.valid('json'), client);
      // A client that disconnects must not leave its attempt pending.
      c.executionCtx.waitUntil(attempt.catch(() => {}));
      const { account, session } = await attempt;
      setSessionCookie(c, session);
      return c.json(toSignedIn(account, session), 200);
    },
  )
  .post(
    '/logout',
    endpoint({
      id: 'logout',
      tag: 'Account',
      summary: 'Sign out',
      description:
        'Ends the session that the request carries. With an API key, nothing ends. A session over its rate limit can still be ended.',
      access: 'account',
      // A session can be ended only once, so this doesn't need a rate limit.
      hasUnlimitedSessions: true,
      answers: [{ status: 200, description: 'The session has ended.', schema: loggedOutBody }],
    }),
    async (c) => {
      if (c.var.sessionHash) await logout(publicCtx(c), c.var.ctx, c.var.sessionHash);
      clearSessionCookie(c);
      return c.json({ logged_out: true as const }, 200);
    },
  )
  .get(
    '/account',
    endpoint({
      id: 'getAccount',
      tag: 'Account',
      summary: 'Get the account',
      access: 'account',
      answers: [{ status: 200, description: 'The account.', schema: accountDetailsBody }],
    }),
    async (c) => {
      const { ctx } = c.var;
      const [account, ...regions] = await Promise.all([getAccount(ctx), listBranches(ctx), findMove(ctx)]);
      return c.json(toAccountDetails(account, ...regions), 200);
    },
  )
  .patch(
    '/account',
    endpoint({
      id: 'patchAccount',
      tag: 'Account',
      summary: 'Update the account',
      access: 'account',
      answers: [{ status: 200, description: 'The updated account.', schema: accountDetailsBody }],
    }),
    body(patchAccountInput),
    async (c) => {
      const [account, ...regions] = await Promise.all([
        changeAccount(c.var.ctx, c.req.valid('json')),
        listBranches(c.var.ctx),
        findMove(c.var.ctx),
      ]);
      return c.json(toAccountDetails(account, ...regions), 200);
    },
  );
