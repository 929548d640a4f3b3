import { Hono } from 'hono';
import { findOwnSession } from '../auth/authenticate.ts';
import { clientOf } from '../auth/client.ts';
import { endpoint } from '../auth/endpoint.ts';
import { setSignInCookies } from '../auth/session-cookie.ts';
import { endMade, endSquatted } from '../erasure/squatted.ts';
import { type AppEnv, completed, publicCtx, userCtx } from '../http/context.ts';
import { sendMail } from '../mail/send.ts';
import { twoFactorRequired } from '../sign-in/challenge.ts';
import { signedInBody, toSignedIn } from '../sign-in/schemas.ts';
import { releaseMails } from '../stores/work.ts';
import { changeEmail } from './change-email.ts';
import { changePassword, resetPassword, sendReset } from './passwords.ts';
import { restoreEmail } from './restore-email.ts';
import {
  changeEmailInput,
  changePasswordInput,
  emailRestoredBody,
  emailVerifiedBody,
  forgotPasswordInput,
  mailAcceptedBody,
  passwordChangedBody,
  resetPasswordInput,
  restoreEmailInput,
  verifyEmailInput,
} from './schemas.ts';
import { confirmEmail, findUnverified, sendVerification } from './verify-email.ts';

const ACCEPTED = { accepted: true } as const;

export const credentialRoutes = new Hono<AppEnv>()
  .post(
    '/change-password',
    endpoint({
      id: 'changePassword',
      tag: 'Account',
      summary: 'Change the password',
      description: 'Every other session ends.',
      access: 'account',
      wantsProof: true,
      body: changePasswordInput,
      answers: [{ status: 200, description: 'The password has changed.', schema: passwordChangedBody }],
      errors: ['invalid_credentials'],
    }),
    async (c) => {
      const sessionHash = c.get('sessionHash') ?? null;
      const change = changePassword(userCtx(c), c.req.valid('json'), clientOf(c), sessionHash);
      await completed(c, change);
      return c.json({ changed: true as const }, 200);
    },
  )
  .post(
    '/forgot-password',
    endpoint({
      id: 'forgotPassword',
      tag: 'Account',
      summary: 'Ask for an email to reset the password',
      description:
        'The response is the same whether an account has the email address or not. The link in the email works once, for an hour. An address gets at most five emails an hour and 15 a day. Beyond them, it gets the first link of each hour, and further ones are dropped.',
      access: 'public',
      body: forgotPasswordInput,
      answers: [
        {
          status: 202,
          description: 'If an account has the email address, it gets an email.',
          schema: mailAcceptedBody,
        },
      ],
    }),
    (c) => {
      c.executionCtx.waitUntil(sendReset(publicCtx(c), c.req.valid('json').email, clientOf(c)));
      return c.json(ACCEPTED, 202);
    },
  )
  .post(
    '/reset-password',
    endpoint({
      id: 'resetPassword',
      tag: 'Account',
      summary: 'Set a new password with the token of an email',
      description:
        'Every session ends, and a new one starts, as with `POST /api/login`. If nobody has proved the email address before, the account’s API keys, webhooks, two-factor authentication, and pending changes end, too.',
      access: 'public',
      body: resetPasswordInput,
      answers: [{ status: 200, description: 'The account and a new session.', schema: signedInBody }],
      errors: ['invalid_token', 'two_factor_required', 'rate_limit_exceeded'],
    }),
    async (c) => {
      const reset = resetPassword(publicCtx(c), c.req.valid('json'), clientOf(c), endSquatted);
      const answer = await completed(c, reset);
      // Two-factor authentication ends with the first proof, so a challenge proves nothing new.
      if ('challenge' in answer) throw twoFactorRequired(answer);
      c.executionCtx.waitUntil(releaseMails(c.env, answer.account.id));
      setSignInCookies(c, answer);
      return c.json(toSignedIn(answer), 200);
    },
  )
  .post(
    '/verify-email',
    endpoint({
      id: 'verifyEmail',
      tag: 'Account',
      summary: 'Confirm an email address with the token of an email',
      description:
        'After a change of the email address, the new address takes effect with this call. The token alone proves only who reads the email, so the call also needs a session of the account, or its password. Wrong passwords are limited like those of `POST /api/login`.',
      access: 'public',
      body: verifyEmailInput,
      answers: [{ status: 200, description: 'The email address is verified.', schema: emailVerifiedBody }],
      errors: ['invalid_token', 'reauthentication_required', 'email_taken', 'rate_limit_exceeded'],
    }),
    async (c) => {
      const session = await findOwnSession(c);
      const { accountId, email } = await completed(
        c,
        confirmEmail(publicCtx(c), c.req.valid('json'), clientOf(c), session),
      );
      c.executionCtx.waitUntil(releaseMails(c.env, accountId));
      return c.json({ email, email_verified: true as const }, 200);
    },
  )
  .post(
    '/restore-email',
    endpoint({
      id: 'restoreEmail',
      tag: 'Account',
      summary: 'Take back a changed email address',
      description:
        'Takes the token of the email that an address gets when it is replaced, for seven days. The address is the account’s again, every session and pending change ends, the password stops working, API keys and webhooks created since the change are deleted, webhooks that were changed since are disabled, and two-factor authentication is turned off if it was turned on since. The address gets an email with a link to choose a new password. An address that was never verified can’t be taken back.',
      access: 'public',
      body: restoreEmailInput,
      answers: [
        { status: 200, description: 'The address is the account’s again.', schema: emailRestoredBody },
      ],
      errors: ['invalid_token', 'email_taken'],
    }),
    async (c) => {
      const { token } = c.req.valid('json');
      const restored = restoreEmail(publicCtx(c), token, clientOf(c), endMade);
      return c.json({ email: await completed(c, restored), restored: true as const }, 200);
    },
  )
  .post(
    '/resend-verification',
    endpoint({
      id: 'resendVerification',
      tag: 'Account',
      summary: 'Send the verification email again',
      description:
        'Sends nothing if the email address is already verified. At most five times an hour. An account whose address is not verified sends at most two emails a day, and further ones are dropped.',
      access: 'account',
      answers: [{ status: 202, description: 'The email is on its way.', schema: mailAcceptedBody }],
    }),
    async (c) => {
      const ctx = userCtx(c);
      const account = await findUnverified(ctx);
      if (account) c.executionCtx.waitUntil(sendVerification(ctx, account, clientOf(c).origin));
      return c.json(ACCEPTED, 202);
    },
  )
  .post(
    '/change-email',
    endpoint({
      id: 'changeEmail',
      tag: 'Account',
      summary: 'Change the email address',
      description:
        'The new address takes effect once it is confirmed with the token of the email that it gets. The current address gets an email, too, and after the change another one with which it can be taken back for seven days, if it was verified. At most five times an hour. An address gets at most five emails an hour and 15 a day, whoever asks for them, and further ones are dropped.',
      access: 'account',
      wantsProof: true,
      body: changeEmailInput,
      answers: [{ status: 202, description: 'The new address gets an email.', schema: mailAcceptedBody }],
      errors: ['invalid_credentials', 'email_taken'],
    }),
    async (c) => {
      const letter = await completed(c, changeEmail(userCtx(c), c.req.valid('json'), clientOf(c)));
      c.executionCtx.waitUntil(sendMail(c.env, letter));
      return c.json(ACCEPTED, 202);
    },
  );
