import { type Context, Hono } from 'hono';
import { clientOf } from '../auth/client.ts';
import { endpoint } from '../auth/endpoint.ts';
import { clearSessionCookie } from '../auth/session-cookie.ts';
import { once } from '../gate/worker/commit.ts';
import { type AppEnv, completed, userCtx } from '../http/context.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { lacksCode } from '../two-factor/confirm.ts';
import { eraseCustomer, readCounts } from './customer.ts';
import { requestErasure } from './request.ts';
import { eraseAccountInput, erasedCustomerBody, eraseCustomerInput, erasureBody } from './schemas.ts';

const wantsProof = (c: Context<AppEnv>): Promise<boolean> =>
  lacksCode(userCtx(c), c.req.valid('json' as never));

const account = new Hono<AppEnv>().delete(
  '/account',
  endpoint({
    id: 'eraseAccount',
    tag: 'Account',
    summary: 'Delete the account',
    description:
      'Every session ends, API keys are refused, and the subscription is canceled at once. A checkout that is still open expires, and a payment that arrives later is given back. Everything of the account is erased after seven days. Signing in before then keeps the account, but its subscription stays canceled.',
    access: 'account',
    wantsProof,
    body: eraseAccountInput,
    answers: [{ status: 202, description: 'The account will be erased.', schema: erasureBody }],
    errors: ['invalid_credentials'],
  }),
  async (c) => {
    const requested = requestErasure(userCtx(c), c.req.valid('json'), clientOf(c));
    const eraseAt = await completed(c, requested);
    clearSessionCookie(c);
    return c.json({ erased_by: isoTime(eraseAt) }, 202);
  },
);

const customer = new Hono<AppEnv>().post(
  '/erase-customer',
  endpoint({
    id: 'eraseCustomer',
    tag: 'Licenses',
    summary: 'Erase a customer',
    description:
      'Removes a person from all texts of licenses, from their history, from events, and from what applications have said about machines, permanently. The licenses keep working, with `erased@customer.invalid` as the email address. Deliveries that are still pending are sent without the address. A repeat counts only what was left, unless it has the same `Idempotency-Key`. A key that names the customer is not kept. A customer with too many licenses for one call gets 503, and the erasure continues by itself.',
    access: 'account',
    isRepeatable: true,
    body: eraseCustomerInput,
    answers: [{ status: 200, description: 'The customer is erased.', schema: erasedCustomerBody }],
  }),
  async (c) => {
    const { ctx } = c.var;
    const { customer_email: email } = c.req.valid('json');
    const erase = () => eraseCustomer(ctx, email);
    return c.json(await once(ctx, erase, (counts) => Promise.resolve(readCounts(counts))), 200);
  },
);

export const erasureRoutes = new Hono<AppEnv>().route('/', account).route('/', customer);
