import { Hono } from 'hono';
import type { AppEnv } from '../http/context.ts';
import { endpoint } from '../auth/endpoint.ts';
import { getDashboard } from './dashboard.ts';
import { getOnboarding } from './onboarding.ts';
import { getProgress } from './progress.ts';
import { dashboardBody, onboardingBody, progressBody } from './schemas.ts';

export const dashboardRoutes = new Hono<AppEnv>()
  .get(
    '/dashboard',
    endpoint({
      id: 'getDashboard',
      tag: 'Dashboard',
      summary: 'Everything at a glance',
      access: 'account',
      answers: [{ status: 200, description: 'The account’s figures', schema: dashboardBody }],
    }),
    async (c) => c.json(await getDashboard(c.var.ctx), 200),
  )
  .get(
    '/developer-progress',
    endpoint({
      id: 'getDeveloperProgress',
      tag: 'Dashboard',
      summary: 'How far the first steps have come',
      access: 'account',
      answers: [{ status: 200, description: 'The steps, as facts', schema: progressBody }],
    }),
    async (c) => c.json(await getProgress(c.var.ctx), 200),
  )
  .get(
    '/onboarding',
    endpoint({
      id: 'getOnboarding',
      tag: 'Dashboard',
      summary: 'What a developer needs to start',
      description: 'Each snippet runs once `YOUR_API_KEY` in it is a key.',
      access: 'account',
      answers: [{ status: 200, description: 'Address, key, next step and snippets', schema: onboardingBody }],
    }),
    async (c) => c.json(await getOnboarding(c.var.ctx, new URL(c.req.url).origin), 200),
  );
