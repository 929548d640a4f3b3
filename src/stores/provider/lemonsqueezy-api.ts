import * as z from 'zod';
import { DAY_MS } from '../../shared/rules/dates.ts';
import { resource, toChangedInvoice, toLemonFacts } from './lemonsqueezy-facts.ts';
import { askedId, id, idsOf, optionalTime, tellAll, time } from './parts.ts';
import type { ApiAccess, StoreApi } from './provider.ts';

const PAGE = 100;

/**
 * What is listed, one after the other, each with its newest objects first. An invoice brings its subscription along, which is older
 * than what is listed of those, and without which a renewal pays for no period.
 */
const LISTS: Record<string, string> = {
  orders: '',
  'subscription-invoices': '&include=subscription',
  subscriptions: '',
};
const NAMES = Object.keys(LISTS);

/** What may become of older objects, such as a refund, doesn't move them in a list. */
const LOOK_BACK_MS = 30 * DAY_MS;

const list = z.object({
  data: z.array(resource),
  included: z.array(resource).nullish(),
  meta: z.object({ page: z.object({ currentPage: z.number(), lastPage: z.number() }) }),
});
const one = z.object({ data: resource });
const created = z.object({ created_at: time });
const links = z.object({
  urls: z.object({ customer_portal: z.url().nullish(), receipt: z.url().nullish() }),
});

const get = (access: ApiAccess, path: string): Promise<unknown> =>
  access.call(`/v1/${path}`, {
    headers: { authorization: `Bearer ${access.key}`, accept: 'application/vnd.api+json' },
  });

const getOne = async (access: ApiAccess, path: string) => one.parse(await get(access, path)).data;

const ofInvoice = z.object({ subscription_id: id, created_at: time });
const ofSubscription = z.object({ status: z.string(), renews_at: optionalTime });

export const lemonsqueezyApi: StoreApi = {
  origin: () => 'https://api.lemonsqueezy.com',

  listRecent: async (access, sinceMs, cursor) => {
    const [name = NAMES[0]!, number = '1'] = cursor?.split(' ') ?? [];
    const query = `page%5Bsize%5D=${PAGE}&page%5Bnumber%5D=${number}${LISTS[name] ?? ''}`;
    const page = list.parse(await get(access, `${name}?${query}`));
    const isRecent = ({ attributes }: z.output<typeof resource>) =>
      (created.safeParse(attributes).data?.created_at ?? 0) >= sinceMs - LOOK_BACK_MS;
    const { currentPage, lastPage } = page.meta.page;
    const hasMore = currentPage < lastPage && page.data.some(isRecent);
    const following = NAMES[NAMES.indexOf(name) + 1];
    const listed = [...page.data.filter(isRecent), ...(page.included ?? [])];
    return {
      ...tellAll(listed.map((object) => () => toLemonFacts(object))),
      reachesBack: true,
      next: hasMore ? `${name} ${currentPage + 1}` : following === undefined ? null : `${following} 1`,
    };
  },

  /** Asks what an invoice for a change pays: its subscription's plan to its renewal, unless a later invoice has moved it. */
  ask: async (access, ask) => {
    const invoiceId = askedId(ask);
    const { attributes } = await getOne(access, `subscription-invoices/${invoiceId}`);
    const { subscription_id: owner, created_at: atMs } = ofInvoice.parse(attributes);
    const subscription = await getOne(access, `subscriptions/${encodeURIComponent(owner)}`);
    const { status, renews_at: untilMs } = ofSubscription.parse(subscription.attributes);
    if (status !== 'active' || untilMs === undefined || untilMs <= atMs) return [];
    const query = `filter%5Bsubscription_id%5D=${encodeURIComponent(owner)}&page%5Bsize%5D=${PAGE}`;
    const { data: invoices } = list.parse(await get(access, `subscription-invoices?${query}`));
    const isMoved = invoices.some(
      (other) => (created.safeParse(other.attributes).data?.created_at ?? 0) > atMs,
    );
    return isMoved ? [] : toChangedInvoice(invoiceId, attributes, subscription.attributes, untilMs);
  },

  storeLink: async (access, things) => {
    const [subscriptionId] = idsOf(things, 'subscription');
    const [orderId] = idsOf(things, 'order');
    if (subscriptionId !== undefined) {
      const { attributes } = await getOne(access, `subscriptions/${encodeURIComponent(subscriptionId)}`);
      return links.parse(attributes).urls.customer_portal ?? null;
    }
    if (orderId === undefined) return null;
    const { attributes } = await getOne(access, `orders/${encodeURIComponent(orderId)}`);
    return links.parse(attributes).urls.receipt ?? null;
  },
};
