import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { endpoint } from '../auth/endpoint.ts';
import { once } from '../gate/worker/commit.ts';
import type { AppEnv } from '../http/context.ts';
import { readText } from '../http/input.ts';
import { createVisitorRate } from '../http/visitor-rate.ts';
import { AppError, invalidField } from '../shared/app-error.ts';
import { ownLimits } from '../shared/config/settings.ts';
import { VISITOR_PACE } from '../shared/rules/paces.ts';
import { soldPlan } from '../shared/rules/plans.ts';
import { findChanged, getBilling } from './billing.ts';
import { cancelSubscription } from './cancel-subscription.ts';
import { isChange } from './change-plan.ts';
import { changePage, checkoutPage, paymentStatusPage } from './checkout-page.ts';
import { completeChange, completeCheckout, findCheckout, findReturning } from './checkout.ts';
import { receiveNotification } from './facts/receive.ts';
import { findStarted, initPayment } from './init-payment.ts';
import { openPortal } from './portal.ts';
import { admitProviderCall, findProvider } from './provider/providers.ts';
import { resumeSubscription } from './resume-subscription.ts';
import type { ProviderName } from './rules/fact.ts';
import {
  billingBody,
  cancelledSubscriptionBody,
  cancelSubscriptionInput,
  initPaymentInput,
  portalBody,
  receivedBody,
  resumedSubscriptionBody,
  startedPaymentBody,
  toBilling,
  toCancelled,
  toStartedPayment,
  toSubscription,
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

/** Nothing of billing exists where no plans are sold. Notifications do: a subscription may still run. */
const whereSold: MiddlewareHandler<AppEnv> = (c, next) => {
  if (ownLimits(c.env)) throw new AppError('not_found');
  return next();
};

export const billingRoutes = new Hono<AppEnv>()
  .use('/billing', whereSold)
  .use('/init-payment', whereSold)
  .use('/cancel-subscription', whereSold)
  .use('/resume-subscription', whereSold)
  .use('/billing-portal', whereSold)
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
      const { account, subscription, payments, prices } = await getBilling(c.var.ctx, originOf(c));
      return c.json(toBilling(soldPlan(account, Date.now()), subscription, payments, prices), 200);
    },
  )
  .post(
    '/init-payment',
    endpoint({
      id: 'initPayment',
      tag: 'Billing',
      summary: 'Start a payment for a plan',
      description:
        'Starts a checkout, or a change of the plan that is paid for. Open `checkout_url` in the account holder’s browser. An open checkout for the same plan with the same return URLs is used again, also in parallel calls. Any other call starts a new checkout, which replaces an earlier one that was not paid. If two of these are started at the same time, one stays payable, and the other request can get `invalid_transition`. At most 10 checkouts an hour.',
      access: 'account',
      body: initPaymentInput,
      isRepeatable: true,
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
      const { ctx } = c.var;
      const start = () => initPayment(ctx, c.req.valid('json'), originOf(c));
      const { payment, checkoutUrl } = await once(ctx, start, (id) => findStarted(ctx, id));
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
      isRepeatable: true,
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
      const { ctx } = c.var;
      const cancel = async () => {
        await admitProviderCall(ctx.env, ctx.accountId);
        return cancelSubscription(ctx, c.req.valid('json').at);
      };
      return c.json(toCancelled(await once(ctx, cancel, (id) => findChanged(ctx, id))), 200);
    },
  )
  .post(
    '/resume-subscription',
    endpoint({
      id: 'resumeSubscription',
      tag: 'Billing',
      summary: 'Resume a canceled subscription',
      description:
        'Continues a subscription that was canceled for the end of its period. Nothing is charged until then.',
      access: 'account',
      isRepeatable: true,
      answers: [
        { status: 200, description: 'The subscription, which continues.', schema: resumedSubscriptionBody },
      ],
      errors: ['no_active_subscription', 'invalid_transition'],
    }),
    async (c) => {
      const { ctx } = c.var;
      const resume = async () => {
        await admitProviderCall(ctx.env, ctx.accountId);
        return resumeSubscription(ctx, originOf(c));
      };
      return c.json(
        { subscription: toSubscription(await once(ctx, resume, (id) => findChanged(ctx, id))) },
        200,
      );
    },
  )
  .post(
    '/billing-portal',
    endpoint({
      id: 'openBillingPortal',
      tag: 'Billing',
      summary: 'Open the provider’s billing page',
      description:
        'Returns the URL of a page of the payment provider, where the account holder changes cards and tax ids and finds the invoices. It works for a few minutes, so request it when it is opened.',
      access: 'account',
      wantsProof: true,
      answers: [{ status: 200, description: 'The URL of the page.', schema: portalBody }],
      errors: ['no_active_subscription'],
    }),
    async (c) => {
      const { ctx } = c.var;
      await admitProviderCall(ctx.env, ctx.accountId);
      return c.json({ url: await openPortal(ctx, originOf(c)) }, 200);
    },
  )
  .post('/billing/stripe', notificationEndpoint('stripe'), notificationHandler('stripe'))
  .post('/billing/sandbox', notificationEndpoint('sandbox'), notificationHandler('sandbox'));

/** Pages for browsers: the sandbox's checkout, a change of plan, and the default page to return to after any checkout. */
export const checkoutRoutes = new Hono<AppEnv>()
  .use('/checkout/*', (c, next) => {
    admitVisitor(c);
    return next();
  })
  .get('/checkout/:payment_id', async (c) => {
    const payment = await findCheckout(c.env, c.req.param('payment_id'));
    const canPay = payment.status === 'pending' && payment.provider === 'sandbox';
    if (isChange(payment)) return c.html(changePage(payment));
    if (canPay) return c.html(checkoutPage(payment));
    const { status } = await findReturning(c.env, payment, originOf(c));
    return c.html(paymentStatusPage(status));
  })
  .post('/checkout/:payment_id', async (c) => {
    const payment = await findCheckout(c.env, c.req.param('payment_id'));
    const outcome = new URLSearchParams(await readText(c.req.raw)).get('outcome');
    if (outcome !== 'paid' && outcome !== 'declined')
      throw invalidField('outcome', 'must be paid or declined');
    const provider = await getProvider(c, payment.provider);
    if (isChange(payment)) await admitProviderCall(c.env, payment.accountId);
    if (isChange(payment)) return c.redirect(await completeChange(c.env, provider, payment, outcome), 303);
    if (payment.provider !== 'sandbox') throw new AppError('not_found');
    if (payment.status !== 'pending') return c.html(paymentStatusPage(payment.status), 409);
    return c.redirect(await completeCheckout(c.env, provider, payment, outcome), 303);
  });
