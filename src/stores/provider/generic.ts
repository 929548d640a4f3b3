import * as z from 'zod';
import type { StoreFact, Thing } from '../../purchases/rules/facts.ts';
import { email as emailAddress } from '../../shared/schemas/fields.ts';
import { id, readingOf, readJson } from './parts.ts';
import type { Message, StoreReading, StoreProvider } from './provider.ts';
import { isStandardWebhook, standardKeys } from './signatures.ts';

// A shop of the seller's own, which signs as Standard Webhooks has it. Its bodies name no payments, so a payment is known by its
// order, and in a subscription by its order and the end of its period.

const TYPES = ['paid', 'renewed', 'refunded', 'disputed', 'dispute_won', 'past_due', 'ended'] as const;

const time = z.union([z.iso.date(), z.iso.datetime({ offset: true })]).transform((text) => Date.parse(text));

const common = {
  order: id,
  period_end: time.nullish(),
  amount: z.number().min(0).nullish(),
  currency: z.string().max(10).nullish(),
  quantity: z.int().min(1).nullish(),
  name: z.string().max(200).nullish(),
};

const paidBody = z.object({
  ...common,
  type: z.literal('paid'),
  offer: id,
  email: emailAddress,
});
const laterBody = z.object({
  ...common,
  type: z.enum(TYPES).exclude(['paid', 'renewed']),
});
const renewedBody = z.object({
  ...common,
  type: z.literal('renewed'),
  period_end: time,
  offer: id.nullish(),
});
const body = z.discriminatedUnion('type', [paidBody, renewedBody, laterBody]);
type Body = z.output<typeof body>;

const orderOf = ({ order }: Body): Thing => `order/${order}`;

/** The payment that a body is about. Two texts of one time name the same payment. */
const paymentOf = ({ order, period_end }: Body): Thing =>
  period_end ? `period/${order}/${new Date(period_end).toISOString().slice(0, 10)}` : `order/${order}`;

const linesOf = (sent: Body) => {
  const offer = 'offer' in sent ? sent.offer : null;
  if (!offer && !sent.quantity) return {};
  return { lines: [{ refs: offer ? [offer] : [], quantity: sent.quantity ?? 1 }] };
};

const buyerOf = (sent: Body) =>
  sent.type === 'paid' ? { buyer: { email: sent.email, ...(sent.name && { name: sent.name }) } } : {};

/** A sale says more than a renewal of the same period, also where either was stored without a version. */
const PAID_VERSIONS = { paid: 1, renewed: -1 } as const;

const paymentFact = (sent: Extract<Body, { type: keyof typeof PAID_VERSIONS }>): StoreFact => ({
  kind: 'paid',
  about: paymentOf(sent),
  with: [orderOf(sent)],
  version: PAID_VERSIONS[sent.type],
  ...(sent.type === 'paid' && { number: sent.order }),
  ...buyerOf(sent),
  ...linesOf(sent),
  ...(typeof sent.amount === 'number' && { amount: sent.amount }),
  ...(sent.currency && { currency: sent.currency }),
  ...(sent.period_end && { covers: { untilMs: sent.period_end } }),
});

/** Refunds of one payment can't be told apart, so the greatest one counts: a shop says how much was given back by now. */
const refundOf = ({ amount = null }: Body) => ({ amount, version: amount ?? Number.MAX_SAFE_INTEGER });

const toFact = (sent: Body): StoreFact => {
  const about = { about: paymentOf(sent), with: [orderOf(sent)] };
  const of = sent.period_end ? paymentOf(sent) : 'all';
  switch (sent.type) {
    case 'paid':
    case 'renewed':
      return paymentFact(sent);
    case 'refunded':
      return { kind: 'refunded', ...about, of, ...refundOf(sent) };
    case 'disputed':
      return { kind: 'disputed', ...about, of, state: 'open' };
    case 'dispute_won':
      return { kind: 'disputed', ...about, of, state: 'won' };
    case 'past_due':
      // Without its period, a second renewal that failed looks like a copy of the first.
      return { kind: 'past_due', ...about, ...(sent.period_end && { untilMs: sent.period_end }) };
    default:
      return { kind: 'ended', about: orderOf(sent) };
  }
};

const typed = z.object({ type: z.string() });

const read = ({ body: text }: Message): StoreReading => {
  const sent = readJson(text);
  const { data: known } = typed.safeParse(sent);
  if (!known) return { kind: 'unreadable', problem: 'The body is no JSON object with a type.' };
  if (!TYPES.includes(known.type as (typeof TYPES)[number])) return { kind: 'nothing', type: known.type };
  return readingOf(known.type, () => ({ facts: [toFact(body.parse(sent))] }));
};

export const generic: StoreProvider = {
  secret: 'given',
  isSigned: (delivery, secrets) => isStandardWebhook(delivery, secrets.flatMap(standardKeys)),
  read,
  api: null,
};
