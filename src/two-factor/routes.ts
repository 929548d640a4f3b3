import { Hono } from 'hono';
import { signedInBody, toSignedIn } from '../accounts/schemas.ts';
import { clientOf } from '../auth/client.ts';
import { endpoint } from '../auth/endpoint.ts';
import { setSignInCookies } from '../auth/session-cookie.ts';
import { type AppEnv, completed, publicCtx, userCtx } from '../http/context.ts';
import { body } from '../http/input.ts';
import { sendMail } from '../mail/send.ts';
import { answerChallenge } from './challenge.ts';
import {
  confirmTwoFactorInput,
  disableTwoFactorInput,
  recoveryCodesBody,
  twoFactorLoginInput,
  twoFactorOffBody,
  twoFactorSecretBody,
} from './schemas.ts';
import { confirmTwoFactor, disableTwoFactor, startTwoFactor } from './setup.ts';

export const twoFactorRoutes = new Hono<AppEnv>()
  .post(
    '/login/two-factor',
    endpoint({
      id: 'loginTwoFactor',
      tag: 'Account',
      summary: 'Sign in with a code',
      description:
        'Completes a login that has answered `two_factor_required`. A challenge takes five codes within ten minutes. A code works once.',
      access: 'public',
      answers: [{ status: 200, description: 'The account and a new session.', schema: signedInBody }],
      errors: ['invalid_token', 'invalid_credentials', 'rate_limit_exceeded'],
    }),
    body(twoFactorLoginInput),
    async (c) => {
      const signedIn = await completed(c, answerChallenge(publicCtx(c), c.req.valid('json'), clientOf(c)));
      if (signedIn.mail) c.executionCtx.waitUntil(sendMail(c.env, signedIn.mail.to, signedIn.mail.mail));
      setSignInCookies(c, signedIn);
      return c.json(toSignedIn(signedIn), 200);
    },
  )
  .post(
    '/two-factor',
    endpoint({
      id: 'startTwoFactor',
      tag: 'Account',
      summary: 'Set up two-factor authentication',
      description: 'Returns a secret for an authenticator app. Nothing changes until a code confirms it.',
      access: 'account',
      answers: [{ status: 200, description: 'The new secret.', schema: twoFactorSecretBody }],
      errors: ['invalid_transition'],
    }),
    async (c) => c.json(await startTwoFactor(userCtx(c)), 200),
  )
  .post(
    '/two-factor/confirm',
    endpoint({
      id: 'confirmTwoFactor',
      tag: 'Account',
      summary: 'Turn two-factor authentication on',
      description: 'From then on, a login also requires a code.',
      access: 'account',
      answers: [{ status: 200, description: 'Ten recovery codes.', schema: recoveryCodesBody }],
      errors: ['invalid_credentials', 'invalid_transition'],
    }),
    body(confirmTwoFactorInput),
    async (c) => {
      const confirmed = confirmTwoFactor(userCtx(c), c.req.valid('json').code, clientOf(c));
      const enabled = await completed(c, confirmed);
      c.executionCtx.waitUntil(sendMail(c.env, enabled.to, enabled.mail));
      return c.json({ recovery_codes: enabled.codes }, 200);
    },
  )
  .delete(
    '/two-factor',
    endpoint({
      id: 'disableTwoFactor',
      tag: 'Account',
      summary: 'Turn two-factor authentication off',
      access: 'account',
      answers: [{ status: 200, description: 'Two-factor authentication is off.', schema: twoFactorOffBody }],
      errors: ['invalid_credentials', 'invalid_transition'],
    }),
    body(disableTwoFactorInput),
    async (c) => {
      const disabled = disableTwoFactor(userCtx(c), c.req.valid('json'), clientOf(c));
      const { to, mail } = await completed(c, disabled);
      c.executionCtx.waitUntil(sendMail(c.env, to, mail));
      return c.json({ two_factor: false as const }, 200);
    },
  );
