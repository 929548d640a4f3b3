import { Hono } from 'hono';
import { clientOf } from '../auth/client.ts';
import { endpoint } from '../auth/endpoint.ts';
import { clearSessionCookie, setSignInCookies } from '../auth/session-cookie.ts';
import { sendVerification } from '../credentials/verify-email.ts';
import { clientLocation } from '../http/client.ts';
import { type AppEnv, completed, publicCtx, userCtx } from '../http/context.ts';
import { AppError } from '../shared/app-error.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { answerChallenge, twoFactorRequired } from './challenge.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { reauthenticate } from './reauthenticate.ts';
import { register } from './register.ts';
import {
  loggedOutBody,
  loginInput,
  reauthenticatedBody,
  reauthenticateInput,
  registerInput,
  signedInBody,
  toSignedIn,
  twoFactorLoginInput,
} from './schemas.ts';

export const signInRoutes = new Hono<AppEnv>()
  .post(
    '/register',
    endpoint({
      id: 'register',
      tag: 'Account',
      summary: 'Create an account',
      description:
        'Also signs in: the response contains a session token and sets the session cookie. The email address gets a link to verify it. An account whose address is still not verified after seven days is erased, and its owner is told two days before. A service may require an `invitation`, which works once: see `registration` in `GET /health`.',
      access: 'public',
      body: registerInput,
      answers: [{ status: 201, description: 'The new account and its first session.', schema: signedInBody }],
      errors: ['email_taken', 'registration_closed', 'invalid_token', 'rate_limit_exceeded'],
    }),
    async (c) => {
      const ctx = publicCtx(c);
      const client = { ...clientOf(c), location: clientLocation(c) };
      const created = await register(ctx, c.req.valid('json'), client);
      c.executionCtx.waitUntil(sendVerification(ctx, created.account, client.origin));
      setSignInCookies(c, created);
      return c.json(toSignedIn(created), 201);
    },
  )
  .post(
    '/login',
    endpoint({
      id: 'login',
      tag: 'Account',
      summary: 'Sign in',
      description:
        'Starts a new session. If the request carries a session, that session ends. With two-factor authentication, the answer is the error `two_factor_required`, whose details have the challenge for `POST /api/login/two-factor`.',
      access: 'public',
      body: loginInput,
      answers: [{ status: 200, description: 'The account and a new session.', schema: signedInBody }],
      errors: ['invalid_credentials', 'two_factor_required', 'rate_limit_exceeded'],
    }),
    async (c) => {
      const signedIn = await completed(c, login(publicCtx(c), c.req.valid('json'), clientOf(c)));
      if ('challenge' in signedIn) throw twoFactorRequired(signedIn);
      setSignInCookies(c, signedIn);
      return c.json(toSignedIn(signedIn), 200);
    },
  )
  .post(
    '/login/two-factor',
    endpoint({
      id: 'loginTwoFactor',
      tag: 'Account',
      summary: 'Sign in with a code',
      description:
        'Completes a login that has answered `two_factor_required`. A challenge takes five codes within ten minutes. A code works once.',
      access: 'public',
      body: twoFactorLoginInput,
      answers: [{ status: 200, description: 'The account and a new session.', schema: signedInBody }],
      errors: ['invalid_token', 'invalid_credentials', 'rate_limit_exceeded'],
    }),
    async (c) => {
      const signedIn = await completed(c, answerChallenge(publicCtx(c), c.req.valid('json'), clientOf(c)));
      setSignInCookies(c, signedIn);
      return c.json(toSignedIn(signedIn), 200);
    },
  )
  .post(
    '/reauthenticate',
    endpoint({
      id: 'reauthenticate',
      tag: 'Account',
      summary: 'Prove again who you are',
      description:
        'Ten minutes after a session began, calls that change how somebody gets in, what gets out (full keys, webhooks, the export), or whose reports of sales count (a new store, a store’s secret or API key) answer `reauthentication_required`. This call accepts the password, or, if two-factor authentication is on, a code, and opens them for another ten minutes. Only for sessions.',
      access: 'account',
      // The session of a suspended account may export.
      isForSuspended: true,
      body: reauthenticateInput,
      answers: [{ status: 200, description: 'The session is proved again.', schema: reauthenticatedBody }],
      errors: ['invalid_credentials', 'two_factor_required', 'insufficient_scope'],
    }),
    async (c) => {
      const { sessionHash } = c.var;
      if (!sessionHash)
        throw new AppError('insufficient_scope', { message: 'Only a session can be proved again.' });
      const proved = reauthenticate(userCtx(c), sessionHash, c.req.valid('json'), clientOf(c));
      return c.json({ proved_until: isoTime(await completed(c, proved)) }, 200);
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
      if (c.var.sessionHash) await logout(userCtx(c), c.var.sessionHash);
      clearSessionCookie(c);
      return c.json({ logged_out: true as const }, 200);
    },
  );
