import { Hono } from 'hono';
import { endpoint } from '../auth/endpoint.ts';
import type { AppEnv } from '../http/context.ts';
import { getRegions } from './regions.ts';
import { regionsBody } from './schemas.ts';

export const regionRoutes = new Hono<AppEnv>().get(
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
);
