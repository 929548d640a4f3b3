import * as z from 'zod';
import type { StoreFact } from '../../purchases/rules/facts.ts';
import { askedId, idsOf, tellAll } from './parts.ts';
import type { ApiAccess, ApiRequest, StoreApi } from './provider.ts';
import { sessionFacts, stripeEvent, toStripeFacts } from './stripe-facts.ts';
import { invoiceFacts } from './stripe-invoices.ts';

const API_VERSION = '2026-10-28.endive';
const PAGE = 100;

const events = z.object({ data: z.array(stripeEvent), has_more: z.boolean() });
const portal = z.object({ url: z.url() });
const live = z.object({ livemode: z.boolean().nullish() });
const list = z.object({ data: z.array(z.looseObject({ id: z.string() })), has_more: z.boolean() });

/** The most pages of a list that are read. */
const MAX_PAGES = 5;

/** What a license depends on. */
const TYPES = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'invoice.paid',
  'invoice.payment_failed',
  'invoice_payment.paid',
  'charge.refunded',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'customer.subscription.updated',
  'customer.subscription.deleted',
];

const call = (access: ApiAccess, path: string, request: ApiRequest = {}): Promise<unknown> =>
  access.call(`/v1/${path}`, {
    ...request,
    headers: { authorization: `Bearer ${access.key}`, 'stripe-version': API_VERSION },
  });

/** Reads an object and the list of its lines, of which the object itself has only the first ten. */
const readWhole = async (access: ApiAccess, path: string, name: 'lines' | 'line_items') => {
  const read = z.looseObject({ [name]: z.looseObject({ has_more: z.boolean().nullish() }) });
  const object = read.parse(await call(access, path));
  if (object[name]?.has_more !== true) return object;
  const whole = { data: [] as object[], has_more: true };
  const [start = ''] = path.split('?');
  let after = '';
  for (let pages = 0; pages < MAX_PAGES && whole.has_more; pages++) {
    const page = list.parse(await call(access, `${start}/${name}?limit=${PAGE}${after}`));
    whole.data.push(...page.data);
    whole.has_more = page.has_more;
    after = `&starting_after=${page.data.at(-1)?.id}`;
  }
  return { ...object, [name]: whole };
};

export const stripeApi: StoreApi = {
  origin: () => 'https://api.stripe.com',

  /** Stripe keeps each event for 30 days, as it was, also those of which nobody was notified. */
  listRecent: async (access, sinceMs, cursor) => {
    const query = new URLSearchParams({
      limit: String(PAGE),
      'created[gte]': String(Math.floor(sinceMs / 1_000)),
    });
    for (const type of TYPES) query.append('types[]', type);
    if (cursor !== null) query.set('starting_after', cursor);
    const page = events.parse(await call(access, `events?${query.toString()}`));
    const last = page.data.at(-1)?.id ?? null;
    return {
      ...tellAll(page.data.map((event) => () => toStripeFacts(event))),
      next: page.has_more ? last : null,
    };
  },

  ask: async (access, ask): Promise<StoreFact[]> => {
    const isInvoice = ask.startsWith('invoice/');
    const object = isInvoice
      ? await readWhole(access, `invoices/${askedId(ask)}`, 'lines')
      : await readWhole(access, `checkout/sessions/${askedId(ask)}?expand%5B%5D=line_items`, 'line_items');
    const { facts } = isInvoice ? invoiceFacts(object) : sessionFacts(object);
    const isTest = live.safeParse(object).data?.livemode === false;
    return facts.map((fact) => ({
      ...fact,
      // An invoice is asked for if its notification lacks lines, which this one replaces.
      ...(isInvoice && { version: 1 }),
      ...(isTest && { isTest: true as const }),
    }));
  },

  needsBuyer: true,
  storeLink: async (access, _things, buyer) => {
    const [customer] = buyer === null ? [] : idsOf([buyer], 'customer');
    if (customer === undefined) return null;
    return portal.parse(await call(access, 'billing_portal/sessions', { form: { customer } })).url;
  },
};
