import { zValidator } from '@hono/zod-validator';
import { type Context, Hono } from 'hono';
import { clientIp } from '../http/client-ip.ts';
import { accountCtx, type AppEnv, publicCtx } from '../http/context.ts';
import { body, query } from '../http/input.ts';
import { AppError } from '../shared/app-error.ts';
import { OPERATOR } from '../shared/rules/audit.ts';
import { checkOperatorToken } from './access.ts';
import { grantPlan, searchAccounts, setSuspended } from './accounts.ts';
import { accountParam, accountsQuery, grantInput, toAccountPage, toOperatorAccount } from './schemas.ts';

// The operator's paths. They are not in the OpenAPI document, which is for the service's users: see docs/running.md.

/** Any other id is no account's. */
const account = zValidator('param', accountParam, ({ success }) => {
  if (!success) throw new AppError('not_found', { message: 'Account Not Found' });
});

const operatorCtx = (c: Context<AppEnv>, accountId: string) => accountCtx(c, accountId, OPERATOR);

export const operatorRoutes = new Hono<AppEnv>()
  .use(async (c, next) => {
    await checkOperatorToken(publicCtx(c), c.req.header('authorization'), clientIp(c));
    c.header('Cache-Control', 'no-store');
    await next();
  })
  .get('/accounts', query(accountsQuery), async (c) => {
    const input = c.req.valid('query');
    return c.json(toAccountPage(await searchAccounts(c.env, input), input.limit), 200);
  })
  .post('/accounts/:id/suspend', account, async (c) => {
    const found = await setSuspended(operatorCtx(c, c.req.valid('param').id), true);
    return c.json(toOperatorAccount(found), 200);
  })
  .post('/accounts/:id/reinstate', account, async (c) => {
    const found = await setSuspended(operatorCtx(c, c.req.valid('param').id), false);
    return c.json(toOperatorAccount(found), 200);
  })
  .post('/accounts/:id/plan', account, body(grantInput), async (c) => {
    const { plan, until } = c.req.valid('json');
    const untilMs = until ? Date.parse(until) : null;
    const found = await grantPlan(operatorCtx(c, c.req.valid('param').id), plan, untilMs);
    return c.json(toOperatorAccount(found), 200);
  });
