import { type Context, Hono } from 'hono';
import { endpoint } from '../auth/endpoint.ts';
import type { AppEnv } from '../http/context.ts';
import { readText } from '../http/input.ts';
import { createVisitorRate } from '../http/visitor-rate.ts';
import { AppError, invalidField } from '../shared/app-error.ts';
import { VISITOR_PACE } from '../shared/rules/paces.ts';
import { effectivePlan } from '../shared/rules/plans.ts';
import { getBilling } from './billing.ts';
import { cancelSubscription } from './cancel-subscription.ts';
import { checkoutPage, paymentStatusPage } from './checkout-page.ts';
import { completeCheckout, findCheckout, findReturning } from './checkout.ts';
import { initPayment } from './init-payment.ts';
import type { ProviderName } from './provider.ts';
import { findProvider } from './providers.ts';
import { receiveNotification } from './receive.ts';
import {
  billingBody,
  cancelledSubscriptionBody,
  cancelSubscriptionInput,
  initPaymentInput,
  receivedBody,
  startedPaymentBody,
  toBilling,
  toCancelled,
  toStartedPayment,
} from './schemas.ts';

/** The pages query D1. */
const admitVisitor = createVisitorRate(VISITOR_PACE.callsPerSecond);

const originOf = (c: Context<AppEnv>) => new URL(c.req.url).origin;

const getProvider = async (c: Context<AppEnv>, name: ProviderName) => {
  const provider = await findProvider(c.env, name, originOf(c));
  if (!provider) throw new AppError('not_found');
  return provider;
};

const notificationHandler = (name: ProviderName) => async (c: Context<AppEnv>) => {
  const provider = await getProvider(c, name);
  await receiveNotification(c.env, provider, await readText(c.req.raw), c.req.raw.headers);
  return c.json({ received: true as const }, 200);
};

const notificationEndpoint = (name: ProviderName) =>
  endpoint({
    id: `${name}Notification`,
    tag: 'Billing',
    summary: `Receive a notification from ${name}`,
    description:
      'Called by the payment provider, which signs the request. Repeated, late, and unknown notifications get the same response.',
    access: 'public',
    answers: [{ status: 200, description: 'The notification was accepted.', schema: receivedBody }],
    errors: ['invalid_request', 'not_found', 'body_too_large'],
  });

export const billingRoutes = new Hono<AppEnv>()
  .get(
    '/billing',
    endpoint({
      id: 'getBilling',
      tag: 'Billing',
      summary: 'Get plan, subscription, and payments',
      access: 'account',
      answers: [
        { status: 200, description: 'The account’s plan, subscription, and payments.', schema: billingBody },
      ],
    }),
    async (c) => {
      const { account, subscription, payments } = await getBilling(c.var.ctx, originOf(c));
      return c.json(toBilling(effectivePlan(account, Date.now()), subscription, payments), 200);
    },
  )
  .post(
    '/init-payment',
    endpoint({
      id: 'initPayment',
      tag: 'Billing',
      summary: 'Start a payment for a plan',
      description:
        'Starts a checkout. Open `checkout_url` in the account holder’s browser. An open checkout for the same plan with the same return URLs is used again, also in parallel calls. Any other call starts a new checkout, which replaces an earlier one that was not paid. If two of these are started at the same time, one stays payable, and the other request can get `invalid_transition`. At most 10 checkouts an hour.',
      access: 'account',
      body: initPaymentInput,
      answers: [
        {
          status: 201,
          description: 'The pending payment and the URL of its checkout.',
          schema: startedPaymentBody,
        },
      ],
      errors: ['invalid_transition', 'rate_limit_exceeded'],
    }),
    async (c) => {
      const { payment, checkoutUrl } = await initPayment(c.var.ctx, c.req.valid('json'), originOf(c));
      return c.json(toStartedPayment(payment, checkoutUrl), 201);
    },
  )
  .post(
    '/cancel-subscription',
    endpoint({
      id: 'cancelSubscription',
      tag: 'Billing',
      summary: 'Cancel the subscription',
      access: 'account',
      body: cancelSubscriptionInput,
      answers: [
        {
          status: 200,
          description: 'The canceled subscription and the time at which it ends.',
          schema: cancelledSubscriptionBody,
        },
      ],
      errors: ['no_active_subscription'],
    }),
    async (c) => {
      const { at } = c.req.valid('json');
      return c.json(toCancelled(await cancelSubscription(c.var.ctx, at)), 200);
    },
  )
  .post('/billing/stripe', notificationEndpoint('stripe'), notificationHandler('stripe'))
  .post('/billing/sandbox', notificationEndpoint('sandbox'), notificationHandler('sandbox'));

/** Pages for browsers: the sandbox's checkout, and the default page to return to after any checkout. */
export const checkoutRoutes = new Hono<AppEnv>()
  .use('/checkout/*', (c, next) => {
    admitVisitor(c);
    return next();
  })
  .get('/checkout/:payment_id', async (c) => {
    const payment = await findCheckout(c.env, c.req.param('payment_id'));
    const canPay = payment.status === 'pending' && payment.provider === 'sandbox';
    if (canPay) return c.html(checkoutPage(payment));
    const { status } = await findReturning(c.env, payment, originOf(c));
    return c.html(paymentStatusPage(status));
  })
  .post('/checkout/:payment_id', async (c) => {
    const provider = await getProvider(c, 'sandbox');
    const payment = await findCheckout(c.env, c.req.param('payment_id'));
    const outcome = new URLSearchParams(await readText(c.req.raw)).get('outcome');
    if (outcome !== 'paid' && outcome !== 'declined')
      throw invalidField('outcome', 'must be paid or declined');
    if (payment.provider !== 'sandbox') throw new AppError('not_found');
    if (payment.status !== 'pending') return c.html(paymentStatusPage(payment.status), 409);
    return c.redirect(await completeCheckout(c.env, provider, payment, outcome), 303);
  });
