import { type Context, Hono } from 'hono';
import { clientOf } from '../auth/client.ts';
import { endpoint } from '../auth/endpoint.ts';
import { type AppEnv, completed, userCtx } from '../http/context.ts';
import { lacksCode } from './confirm.ts';
import {
  confirmTwoFactorInput,
  disableTwoFactorInput,
  recoveryCodesBody,
  replaceCodesInput,
  twoFactorOffBody,
  twoFactorSecretBody,
} from './schemas.ts';
import { confirmTwoFactor, disableTwoFactor, replaceCodes, startTwoFactor } from './setup.ts';

const wantsProof = (c: Context<AppEnv>): Promise<boolean> =>
  lacksCode(userCtx(c), c.req.valid('json' as never));

export const twoFactorRoutes = new Hono<AppEnv>()
  .post(
    '/two-factor',
    endpoint({
      id: 'startTwoFactor',
      tag: 'Account',
      summary: 'Set up two-factor authentication',
      description: 'Returns a secret for an authenticator app. Nothing changes until a code confirms it.',
      access: 'account',
      wantsProof: true,
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
      description: 'From then on, a login also requires a code. Every other session ends.',
      access: 'account',
      wantsProof: true,
      body: confirmTwoFactorInput,
      answers: [{ status: 200, description: 'Ten recovery codes.', schema: recoveryCodesBody }],
      errors: ['invalid_credentials', 'invalid_transition'],
    }),
    async (c) => {
      const confirmed = confirmTwoFactor(
        userCtx(c),
        c.req.valid('json').code,
        clientOf(c),
        c.get('sessionHash') ?? null,
      );
      return c.json({ recovery_codes: await completed(c, confirmed) }, 200);
    },
  )
  .post(
    '/two-factor/recovery-codes',
    endpoint({
      id: 'replaceRecoveryCodes',
      tag: 'Account',
      summary: 'Make new recovery codes',
      description: 'The earlier recovery codes stop working. The owner gets an email.',
      access: 'account',
      wantsProof,
      body: replaceCodesInput,
      answers: [{ status: 200, description: 'Ten recovery codes.', schema: recoveryCodesBody }],
      errors: ['invalid_credentials', 'invalid_transition'],
    }),
    async (c) => {
      const replaced = replaceCodes(userCtx(c), c.req.valid('json'), clientOf(c));
      return c.json({ recovery_codes: await completed(c, replaced) }, 200);
    },
  )
  .delete(
    '/two-factor',
    endpoint({
      id: 'disableTwoFactor',
      tag: 'Account',
      summary: 'Turn two-factor authentication off',
      access: 'account',
      wantsProof,
      body: disableTwoFactorInput,
      answers: [{ status: 200, description: 'Two-factor authentication is off.', schema: twoFactorOffBody }],
      errors: ['invalid_credentials', 'invalid_transition'],
    }),
    async (c) => {
      await completed(c, disableTwoFactor(userCtx(c), c.req.valid('json'), clientOf(c)));
      return c.json({ two_factor: false as const }, 200);
    },
  );
