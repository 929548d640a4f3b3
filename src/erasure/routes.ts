import { Hono } from 'hono';
import { clientOf } from '../auth/client.ts';
import { endpoint } from '../auth/endpoint.ts';
import { clearSessionCookie } from '../auth/session-cookie.ts';
import { type AppEnv, userCtx } from '../http/context.ts';
import { body } from '../http/input.ts';
import { sendMail } from '../mail/send.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { requestErasure } from './request.ts';
import { eraseAccountInput, erasureBody } from './schemas.ts';

export const erasureRoutes = new Hono<AppEnv>().delete(
  '/account',
  endpoint({
    id: 'eraseAccount',
    tag: 'Account',
    summary: 'Delete the account',
    description:
      'Every session ends, API keys are refused, and the subscription is canceled at once. Everything of the account is erased after seven days. Signing in before then keeps the account, but its subscription stays canceled.',
    access: 'account',
    answers: [{ status: 202, description: 'The account will be erased.', schema: erasureBody }],
    errors: ['invalid_credentials'],
  }),
  body(eraseAccountInput),
  async (c) => {
    const { eraseAt, mail } = await requestErasure(userCtx(c), c.req.valid('json'), clientOf(c));
    c.executionCtx.waitUntil(sendMail(c.env, mail.to, mail.mail));
    clearSessionCookie(c);
    return c.json({ erased_by: isoTime(eraseAt) }, 202);
  },
);
