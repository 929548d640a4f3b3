import * as z from 'zod';
import type { StoreFact, Thing } from '../../purchases/rules/facts.ts';
import { addMonths } from '../../shared/rules/dates.ts';
import { buyerOf, id, optionalEmail, optionalId, optionalName, said, type StoreTold } from './parts.ts';
import {
  type Covers,
  invoiceLine,
  isCredit,
  isProration,
  linesOf,
  reference,
  seconds,
} from './stripe-lines.ts';

// What Stripe's invoices say, in the shapes before and since API version 2025-03-31.

const OFFER_KEY = 'latchkey_offer';
export const metadata = z.record(z.string(), z.unknown()).nullish();

export const offerIn = (data: z.output<typeof metadata>): string | undefined =>
  optionalId.safeParse(data?.[OFFER_KEY]).data;

const details = z.object({ subscription: reference, metadata }).nullish();

const invoice = z.object({
  id,
  number: optionalId,
  status: z.string().nullish(),
  billing_reason: z.string().nullish(),
  attempted: z.boolean().nullish(),
  amount_paid: z.number().nullish(),
  currency: z.string().max(10).nullish(),
  customer: reference,
  customer_email: optionalEmail,
  customer_name: optionalName,
  subscription: reference,
  subscription_details: details,
  parent: z.object({ subscription_details: details }).nullish(),
  payment_intent: reference,
  charge: reference,
  lines: z.object({ data: z.array(invoiceLine).max(500), has_more: z.boolean().nullish() }),
  created: seconds,
  /** The period before the one that the invoice pays for. */
  period_start: seconds.nullish(),
  period_end: seconds.nullish(),
  status_transitions: z.object({ paid_at: seconds.nullish() }).nullish(),
});
type Invoice = z.output<typeof invoice>;

/** The period after the one in which the lines of a renewal were gathered, which is as long. */
const nextPeriod = ({ period_start: startMs, period_end: endMs }: Invoice): Covers | null => {
  if (!startMs || !endMs || startMs >= endMs) return null;
  const [start, end] = [new Date(startMs), new Date(endMs)];
  const months =
    (end.getUTCFullYear() - start.getUTCFullYear()) * 12 + end.getUTCMonth() - start.getUTCMonth();
  const isOfMonths = addMonths(startMs, months) === endMs;
  return { fromMs: endMs, untilMs: isOfMonths ? addMonths(endMs, months) : endMs + (endMs - startMs) };
};

/**
 * The period that an invoice pays for, by its lines. A notification has only the first ten, and a renewal's begin with those of
 * changes within the period before. Null if it has none.
 */
const coversOf = (sent: Invoice, isCutRenewal: boolean): Covers | null => {
  const { data } = sent.lines;
  // A credit's period is that of what was changed.
  const sold = data.filter((one) => !isCredit(one) && !(isCutRenewal && isProration(one)));
  if (sold.length === 0 && isCutRenewal) return nextPeriod(sent);
  const periods = (sold.length > 0 ? sold : data).flatMap(({ period }) => period ?? []);
  if (periods.length === 0) return null;
  const starts = periods.flatMap(({ start }) => start ?? []);
  return {
    untilMs: Math.max(...periods.map(({ end }) => end)),
    ...(starts.length > 0 && { fromMs: Math.max(...starts) }),
  };
};

export const invoiceFacts = (data: unknown): StoreTold => {
  const sent = invoice.parse(data);
  const parent = sent.parent?.subscription_details ?? sent.subscription_details;
  const subscription = parent?.subscription ?? sent.subscription;
  const about = {
    about: `invoice/${sent.id}` as Thing,
    ...(subscription !== undefined && { with: [`subscription/${subscription}` as Thing] }),
    atMs: sent.status_transitions?.paid_at ?? sent.created,
  };
  if (sent.status !== 'paid') {
    // Before its first payment, a subscription is nothing that could be overdue.
    const isOverdue =
      sent.status === 'open' && sent.attempted === true && sent.billing_reason !== 'subscription_create';
    return { facts: isOverdue && subscription !== undefined ? [{ kind: 'past_due', ...about }] : [] };
  }
  const names: Thing[] = [
    ...(sent.payment_intent === undefined ? [] : [`intent/${sent.payment_intent}` as Thing]),
    ...(sent.charge === undefined ? [] : [`charge/${sent.charge}` as Thing]),
  ];
  const isCut = sent.lines.has_more === true;
  const isCutRenewal = isCut && sent.billing_reason === 'subscription_cycle';
  const covers = coversOf(sent, isCutRenewal);
  // Until the API tells the rest, a renewal is for what was paid before.
  const lines = isCutRenewal ? [] : linesOf(sent.lines.data, offerIn(parent?.metadata), covers);
  const paid: StoreFact = {
    kind: 'paid',
    ...about,
    ...(names.length > 0 && { as: names }),
    ...said({ number: sent.number, amount: sent.amount_paid, currency: sent.currency }),
    ...buyerOf(sent.customer_email, sent.customer_name, sent.customer),
    ...(lines.length > 0 && { lines }),
    ...(subscription !== undefined && covers !== null && { covers }),
  };
  if (!isCut) return { facts: [paid] };
  // What the API tells replaces the payment, and doesn't name its charge.
  const joined: StoreFact = { kind: 'joined', about: about.about, as: names };
  return { facts: names.length > 0 ? [paid, joined] : [paid], asks: [about.about] };
};

const invoicePayment = z.object({
  invoice: reference,
  status: z.string().nullish(),
  payment: z.object({ payment_intent: reference, charge: reference }),
});

/** Joins an invoice and its payment, which don't name each other since 2025-03-31. */
export const invoicePaymentFacts = (data: unknown): StoreTold => {
  const { invoice: owner, payment } = invoicePayment.parse(data);
  const other: Thing | null =
    payment.payment_intent === undefined
      ? payment.charge === undefined
        ? null
        : `charge/${payment.charge}`
      : `intent/${payment.payment_intent}`;
  if (owner === undefined || other === null) return { facts: [] };
  return { facts: [{ kind: 'joined', about: `invoice/${owner}`, as: [other] }] };
};
