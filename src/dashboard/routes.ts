import { Hono } from 'hono';
import { endpoint } from '../auth/endpoint.ts';
import type { AppEnv } from '../http/context.ts';
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
      summary: 'Get the dashboard’s data',
      access: 'account',
      answers: [
        {
          status: 200,
          description: 'Usage, license counts, webhook figures, and recent events.',
          schema: dashboardBody,
        },
      ],
    }),
    async (c) => c.json(await getDashboard(c.var.ctx), 200),
  )
  .get(
    '/developer-progress',
    endpoint({
      id: 'getDeveloperProgress',
      tag: 'Dashboard',
      summary: 'List the first steps',
      access: 'account',
      answers: [
        { status: 200, description: 'The first steps and which of them are done.', schema: progressBody },
      ],
    }),
    async (c) => c.json(await getProgress(c.var.ctx), 200),
  )
  .get(
    '/onboarding',
    endpoint({
      id: 'getOnboarding',
      tag: 'Dashboard',
      summary: 'Get code snippets and the next step',
      description:
        'Returns snippets that activate a machine, and so verify its license. Replace `YOUR_API_KEY` in a snippet with an API key of scope `verify` to run it. No snippet has the license key of a customer.',
      access: 'account',
      answers: [
        {
          status: 200,
          description: 'The base URL, the newest API key (masked), the next step, and code snippets.',
          schema: onboardingBody,
        },
      ],
    }),
    async (c) => c.json(await getOnboarding(c.var.ctx, new URL(c.req.url).origin), 200),
  );
