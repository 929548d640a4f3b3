import { inject } from 'vitest';
import type { StripeObject } from './stripe-objects.ts';
import type { StripeRequest } from './stripe-server.ts';

// What tests do at the fake of Stripe's API, beside what the service does there.

export const control = async <T = StripeRequest[]>(
  method: string,
  path: string,
  body?: unknown,
): Promise<T> =>
  (await fetch(`${inject('stripe')}/test/${path}`, { method, body: JSON.stringify(body) })).json();

/** Returns the recorded requests to Stripe that contain the text. */
export const stripeRequests = (text: string) => control('GET', `requests/${encodeURIComponent(text)}`);

export const newStripeCustomer = async (): Promise<string> =>
  (await (await fetch(`${inject('stripe')}/v1/customers`, { method: 'POST' })).json<{ id: string }>()).id;

export const ref = (prefix: string) => `${prefix}_${crypto.randomUUID().replaceAll('-', '')}`;

/** Makes a price in Stripe's dashboard. */
export const putPrice = (id: string, unit_amount: number) =>
  control('PUT', `prices/${id}`, { id, object: 'price', unit_amount, currency: 'eur' });
export const setTax = (status: 'active' | 'pending') => control('PUT', `tax/${status}`);

/** Changes a checkout session at Stripe. */
export const changeSession = (id: string, changes: StripeObject) => control('PUT', `sessions/${id}`, changes);

export const putCharge = (invoiceId: string, amount_refunded: number) =>
  control<StripeObject>('PUT', `charges/${invoiceId}`, { amount_refunded });
/** Lets Stripe refuse to give a charge back, or do so again. */
export const refuseRefunds = (invoiceId: string, refuses: boolean) =>
  control<StripeObject>('PUT', `charges/${invoiceId}`, { refuses });
/** Lets 24 hours pass for an Idempotency-Key. */
export const ageKey = (key: string) => control('PUT', `age/${key}`);
export const putDispute = (invoiceId: string, status: string) =>
  control<StripeObject>('PUT', `disputes/${invoiceId}`, { status });
