import { Hono } from 'hono';
import { endpoint } from '../auth/endpoint.ts';
import type { AppEnv } from '../http/context.ts';
import { moveHome } from './home.ts';
import { getRegions } from './regions.ts';
import { homeRegionBody, moveHomeInput, regionsBody } from './schemas.ts';

export const regionRoutes = new Hono<AppEnv>()
  .get(
    '/regions',
    endpoint({
      id: 'getRegions',
      tag: 'Account',
      summary: 'Get calls and latency by region',
      description:
        'Verifies are answered in the account’s home region and, near callers far from it, by branches, which open when a region keeps calling and close when it stops.',
      access: 'account',
      answers: [
        {
          status: 200,
          description: 'The home region, the open branches, and the calls by region.',
          schema: regionsBody,
        },
      ],
    }),
    async (c) => c.json(await getRegions(c.var.ctx), 200),
  )
  .post(
    '/home-region',
    endpoint({
      id: 'moveHome',
      tag: 'Account',
      summary: 'Move the account to another home region',
      description:
        'The account moves in the background, usually within seconds. No call is refused meanwhile. If the new region can’t be reached for an hour, the account stays where it is. Only a session can move the account, and at most once in 24 hours.',
      access: 'account',
      isRepeatable: true,
      body: moveHomeInput,
      answers: [
        {
          status: 202,
          description: 'The account is moving, or its home is there already.',
          schema: homeRegionBody,
        },
      ],
      errors: ['invalid_transition'],
    }),
    async (c) => c.json(await moveHome(c.var.ctx, c.req.valid('json').region), 202),
  );
