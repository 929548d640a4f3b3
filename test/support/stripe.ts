import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { Stripe } from 'stripe';
import { expect, inject } from 'vitest';
import worker from '../../src/index.ts';
import { addMonths } from '../../src/shared/rules/dates.ts';
import { type Answer, type Customer, type Json, ORIGIN, signUp } from './client.ts';
import { accountsD1, firstD1 } from './databases.ts';
import { readGate } from './gate.ts';
import { addEndpoint } from './outbox.ts';
import { newReceiver } from './receiver.ts';
import { control, stripeRequests, newStripeCustomer, ref, putCharge, putDispute } from './stripe-control.ts';
import {
  type Checkout,
  checkoutSession,
  type Invoice,
  invoice,
  items,
  type StripeObject,
  subscription,
} from './stripe-objects.ts';

export {
  ref,
  stripeRequests,
  newStripeCustomer,
  putPrice,
  setTax,
  changeSession,
  putCharge,
  refuseRefunds,
  ageKey,
  putDispute,
} from './stripe-control.ts';

const WEBHOOK_SECRET = 'whsec_test';

export const stripeEnv = (changes: Partial<Env> = {}): Env => ({
  ...env,
  PAYMENTS: 'stripe',
  STRIPE_SECRET_KEY: 'sk_test_x',
  STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
  STRIPE_API_BASE: inject('stripe'),
  ...changes,
});

/** Sends a request to the Worker with the given environment. */
export const callIn = async (environment: Env, request: Request): Promise<Answer> => {
  const ctx = createExecutionContext();
  const response = await worker.fetch(request, environment, ctx);
  const text = await response.text();
  await waitOnExecutionContext(ctx);
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
};

const { webhooks } = new Stripe('sk_test_x');

interface NotifyOptions {
  id?: string;
  secret?: string;
  environment?: Env;
}

/** Sends a signed Stripe notification about an object to the Worker. */
export const notify = async (
  type: string,
  object: StripeObject,
  { id = ref('evt'), secret = WEBHOOK_SECRET, environment = stripeEnv() }: NotifyOptions = {},
): Promise<Answer> => {
  const payload = JSON.stringify({ id, object: 'event', type, data: { object } });
  const timestamp = Math.floor(Date.now() / 1_000);
  const signature = await webhooks.generateTestHeaderStringAsync({ payload, secret, timestamp });
  return callIn(
    environment,
    new Request(`${ORIGIN}/api/billing/stripe`, {
      method: 'POST',
      body: payload,
      headers: { 'content-type': 'application/json', 'stripe-signature': signature },
    }),
  );
};

export interface StripeSubscription extends Checkout {
  /** Changes the subscription at Stripe. */
  put: (changes?: StripeObject) => Promise<StripeObject>;
  /** Adds the next month's invoice, paid or open, and sends the notification. */
  bill: (next: Invoice) => Promise<Answer>;
  /** Changes an invoice that is no longer the latest one. */
  settle: (earlier: Invoice) => Promise<StripeObject>;
  end: () => Promise<Answer>;
  hold: () => Promise<void>;
  release: () => Promise<void>;
}

/** Changes the charge that has paid an invoice, or a dispute of it, and sends the notification. */
export const changeCharge = async (invoiceId: string, amount_refunded: number) =>
  notify('charge.refunded', await putCharge(invoiceId, amount_refunded));
export const changeDispute = async (invoiceId: string, status: string) =>
  notify(
    status === 'needs_response' ? 'charge.dispute.created' : 'charge.dispute.closed',
    await putDispute(invoiceId, status),
  );

/** Returns the metadata that the service has asked Stripe to give to the checkout's subscription. */
const sentMetadata = async (paymentId: string) => {
  const [request] = await stripeRequests(paymentId);
  const fields = Object.entries(request?.form ?? {}).map(([name, value]) => [
    /^subscription_data\[metadata\]\[(\w+)\]$/.exec(name)?.[1],
    value,
  ]);
  return Object.fromEntries(fields.filter(([name]) => name !== undefined)) as Record<string, string>;
};

/** Creates the subscription that Stripe creates for a paid checkout. */
export const paidAtStripe = async (
  paymentId: string,
  customer: string,
  firstInvoice: Invoice,
): Promise<StripeSubscription> => {
  const id = ref('sub');
  const put = (changes: StripeObject = {}) => control<StripeObject>('PUT', `subscriptions/${id}`, changes);
  await put(subscription(id, await sentMetadata(paymentId), customer, firstInvoice));
  return {
    id,
    paymentId,
    customer,
    put,
    bill: async (next) => {
      const isPaid = next.status === 'paid';
      const object = invoice(next, id);
      await put({ status: isPaid ? 'active' : 'past_due', items: items(next), latest_invoice: object });
      return notify(isPaid ? 'invoice.paid' : 'invoice.payment_failed', object);
    },
    settle: (earlier) => control<StripeObject>('PUT', `invoices/${earlier.id}`, invoice(earlier, id)),
    end: async () => {
      const endedAt = Math.floor(Date.now() / 1_000);
      return notify('customer.subscription.deleted', await put({ status: 'canceled', ended_at: endedAt }));
    },
    hold: async () => void (await control('PUT', `hold/${id}`)),
    release: async () => void (await control('DELETE', `hold/${id}`)),
  };
};

/** Returns Stripe's invoice for one month of a plan. */
export const month = (startMs: number, changes: Partial<Invoice> = {}): Invoice => ({
  id: ref('in'),
  status: 'paid',
  billing_reason: 'subscription_create',
  periodStartMs: startMs,
  periodEndMs: addMonths(startMs, 1),
  amount: 2_900,
  ...changes,
});

const rows = async <T>(query: string, ...bindings: unknown[]): Promise<T[]> =>
  (
    await accountsD1
      .prepare(query)
      .bind(...bindings)
      .all<T>()
  ).results;

/** Returns the account's billing rows created since `sinceMs`, without ids. */
export const billingRowsOf = async (accountId: string, sinceMs = 0) => ({
  account: await rows<{ plan: string; period_start: number; plan_until: number | null }>(
    'SELECT plan, period_start, period_end, plan_until FROM accounts WHERE id = ?',
    accountId,
  ),
  subscriptions: await rows<{ plan: string; status: string; period_start: number; ends_at: number | null }>(
    `SELECT plan, status, period_start, period_end, ends_at FROM subscriptions
     WHERE account_id = ?1 AND created_at >= ?2 ORDER BY id`,
    accountId,
    sinceMs,
  ),
  payments: await rows<{ status: string; plan: string; amount: number }>(
    `SELECT plan, status, amount, currency FROM payments
     WHERE account_id = ?1 AND created_at >= ?2 ORDER BY id`,
    accountId,
    sinceMs,
  ),
});

/** Signs up an account on a service that takes payments with Stripe. */
export const signUpWithStripe = async () => {
  const person: Customer = await signUp();
  // Otherwise the account would be erased within the weeks that the tests let pass.
  await firstD1
    .prepare('UPDATE users SET email_verified_at = ? WHERE account_id = ?')
    .bind(Date.now(), person.accountId)
    .run();
  const receiver = await newReceiver();
  const endpoint = await addEndpoint(person, receiver.url, {
    events: [
      'payment.success',
      'payment.failed',
      'payment.refunded',
      'payment.disputed',
      'subscription.cancelled',
      'plan.ending',
    ],
  });
  const license = await person.createLicense();
  const callApi = (method: string, path: string, sent: unknown = {}, env = stripeEnv(), headers = {}) =>
    callIn(
      env,
      new Request(ORIGIN + path, {
        method,
        ...(method !== 'GET' && { body: JSON.stringify(sent) }),
        // The API key outlives the subscriptions of the tests; a session wouldn't.
        headers: { 'x-api-key': person.apiKey, 'content-type': 'application/json', ...headers },
      }),
    );
  return {
    ...person,
    receiver,
    callApi,
    apiLimit: async (): Promise<number> => (await person.verify(license.license_key)).body.api_limit,
    begin: async (plan: string): Promise<string> => {
      const { status, body } = await callApi('POST', '/api/init-payment', { plan });
      if (status !== 201) throw new Error(`init-payment answered ${JSON.stringify(body)}`);
      return body.payment_id;
    },
    /** Pays for a plan at Stripe and sends the notification. */
    subscribe: async (plan: 'pro' | 'scale' = 'pro'): Promise<StripeSubscription> => {
      const { body } = await callApi('POST', '/api/init-payment', { plan });
      const first = month(Date.now(), { amount: body.amount });
      const atStripe = await paidAtStripe(body.payment_id, await newStripeCustomer(), first);
      const { status } = await notify('checkout.session.completed', checkoutSession(atStripe));
      if (status !== 200) throw new Error(`The notification answered ${status}.`);
      return atStripe;
    },
    billingRows: (sinceMs?: number) => billingRowsOf(person.accountId, sinceMs),
    /** Returns the payloads of the webhooks sent since `sinceMs`, oldest first. */
    events: async (sinceMs = 0): Promise<Json[]> => {
      const waiting = () => readGate(person.accountId, 'SELECT seq FROM outgoing');
      await expect.poll(waiting, { interval: 5 }).toEqual([]);
      const { body } = await callApi('GET', `${endpoint.path}/deliveries?limit=20`);
      return (body.data as Json[])
        .map(({ payload }) => JSON.parse(payload))
        .filter(({ timestamp }) => Date.parse(timestamp) >= sinceMs)
        .toReversed();
    },
  };
};

export type StripePayer = Awaited<ReturnType<typeof signUpWithStripe>>;
