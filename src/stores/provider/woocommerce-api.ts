import { Buffer } from 'node:buffer';
import * as z from 'zod';
import { tellAll } from './parts.ts';
import type { ApiAccess, StoreApi } from './provider.ts';
import { toEarlyRenewal, toWooFacts } from './woocommerce-facts.ts';

const PAGE = 50;

/**
 * What is listed, one after the other, each with its latest change first: what is changed between two pages moves to the top, where
 * the next check finds it, and so a page repeats objects, but hides none.
 */
const LISTS = ['orders', 'subscriptions'] as const;

/** Each shop has its own address, so the key is a URL with the consumer key and secret: `https://ck_…:cs_…@shop.example`. */
const partsOf = (key: string) => {
  const url = URL.parse(key);
  if (!url || !/^https?:$/.test(url.protocol) || !url.username || !url.password) return null;
  return {
    origin: `${url.origin}${url.pathname.replace(/\/+$/, '')}`,
    basic: Buffer.from(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`).toString(
      'base64',
    ),
  };
};

const get = (access: ApiAccess, path: string): Promise<unknown> =>
  access.call(`/wp-json/wc/v3/${path}`, {
    headers: { authorization: `Basic ${partsOf(access.key)?.basic ?? ''}`, 'user-agent': 'Latchkey' },
  });

/** A shop without the extension has no list of subscriptions. */
const isMissing = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'status' in error && error.status === 404;

const getList = async (access: ApiAccess, name: string, query: string): Promise<unknown[]> => {
  try {
    return z.array(z.unknown()).parse(await get(access, `${name}?${query}`));
  } catch (error) {
    if (name !== 'subscriptions' || !isMissing(error)) throw error;
    return [];
  }
};

export const woocommerceApi: StoreApi = {
  origin: (key) => partsOf(key)?.origin ?? '',

  keyProblem: (key) =>
    partsOf(key)
      ? null
      : 'must be the address of the shop with both keys in it: https://ck_…:cs_…@shop.example.com',

  /** A list by the last change has refunds of old orders, too. */
  listRecent: async (access, sinceMs, cursor) => {
    const [name = LISTS[0], number = '1'] = cursor?.split(' ') ?? [];
    const since = new Date(sinceMs).toISOString().slice(0, 19);
    const query = `modified_after=${since}&dates_are_gmt=true&orderby=modified&order=desc&per_page=${PAGE}&page=${number}`;
    const list = await getList(access, name, query);
    const topic = name === 'orders' ? 'order.updated' : 'subscription.updated';
    const next =
      list.length === PAGE ? `${name} ${Number(number) + 1}` : name === LISTS[0] ? `${LISTS[1]} 1` : null;
    const { facts, asks } = tellAll(list.map((object) => () => toWooFacts(topic, object)));
    return { facts, asks, reachesBack: true, next };
  },

  ask: async (access, ask) => {
    const [, subscription = '', order = ''] = ask.split('/').map(encodeURIComponent);
    const owner = await get(access, `subscriptions/${subscription}`);
    return toEarlyRenewal(await get(access, `orders/${order}`), owner);
  },

  storeLink: (access) => Promise.resolve(`${partsOf(access.key)?.origin ?? ''}/my-account/`),
};
