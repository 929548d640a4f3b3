import { Hono } from 'hono';
import { endpoint } from '../auth/endpoint.ts';
import { once } from '../gate/worker/commit.ts';
import type { AppEnv } from '../http/context.ts';
import { findMove } from '../regions/home.ts';
import { listBranches } from '../regions/regions.ts';
import { changeAccount } from './account.ts';
import { getProfile } from './profile.ts';
import { accountDetailsBody, patchAccountInput, toAccountDetails } from './schemas.ts';

export const accountRoutes = new Hono<AppEnv>()
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
      const [account, ...regions] = await Promise.all([getProfile(ctx), listBranches(ctx), findMove(ctx)]);
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
      isRepeatable: true,
      body: patchAccountInput,
      answers: [{ status: 200, description: 'The updated account.', schema: accountDetailsBody }],
    }),
    async (c) => {
      const { ctx } = c.var;
      await once(
        ctx,
        () => changeAccount(ctx, c.req.valid('json')),
        () => Promise.resolve(),
      );
      const [account, ...regions] = await Promise.all([getProfile(ctx), listBranches(ctx), findMove(ctx)]);
      return c.json(toAccountDetails(account, ...regions), 200);
    },
  );
