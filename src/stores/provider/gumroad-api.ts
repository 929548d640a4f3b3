import * as z from 'zod';
import { DAY_MS } from '../../shared/rules/dates.ts';
import { toGumroadFacts } from './gumroad-facts.ts';
import { askedId, id, tellAll } from './parts.ts';
import type { ApiAccess, ApiRequest, StoreApi } from './provider.ts';

/** What Gumroad notifies of only if it is registered for. */
const RESOURCES = [
  'sale',
  'refund',
  'dispute',
  'dispute_won',
  'cancellation',
  'subscription_updated',
  'subscription_ended',
  'subscription_restarted',
];

/** What becomes of an older sale doesn't move it in the list, which has ten on a page. */
const LOOK_BACK_MS = 7 * DAY_MS;

const sales = z.object({
  success: z.literal(true),
  sales: z.array(z.unknown()),
  next_page_key: z.string().max(500).nullish(),
});
const one = z.object({ success: z.boolean(), sale: z.unknown().optional() });
const registered = z.object({
  success: z.literal(true),
  resource_subscriptions: z.array(z.object({ id, post_url: z.string() })),
});

/** Of the sale of a membership that has ended, with the time of that, which no sale tells. */
const ENDED_ASK = /^ended-at-(\d+)-/;

const call = (access: ApiAccess, path: string, request: ApiRequest = {}): Promise<unknown> =>
  access.call(`/v2/${path}`, { ...request, headers: { authorization: `Bearer ${access.key}` } });

/** Registers the URL for a resource, and forgets those of the same store that have an earlier token. */
const register = async (access: ApiAccess, resource: string, url: string): Promise<void> => {
  const { resource_subscriptions: known } = registered.parse(
    await call(access, `resource_subscriptions?resource_name=${resource}`),
  );
  if (!known.some(({ post_url }) => post_url === url)) {
    const form = { resource_name: resource, post_url: url };
    await call(access, 'resource_subscriptions', { method: 'PUT', form });
  }
  const store = url.slice(0, url.lastIndexOf('/') + 1);
  const earlier = known.filter(({ post_url }) => post_url.startsWith(store) && post_url !== url);
  for (const { id: old } of earlier.slice(0, 10))
    await call(access, `resource_subscriptions/${encodeURIComponent(old)}`, { method: 'DELETE' });
};

export const gumroadApi: StoreApi = {
  origin: () => 'https://api.gumroad.com',

  listRecent: async (access, sinceMs, cursor) => {
    const after = new Date(sinceMs - LOOK_BACK_MS).toISOString().slice(0, 10);
    const key = cursor === null ? '' : `&page_key=${encodeURIComponent(cursor)}`;
    const page = sales.parse(await call(access, `sales?after=${after}${key}`));
    const { facts } = tellAll(
      page.sales.map((sale) => () => ({ facts: toGumroadFacts(sale, { isListed: true }) })),
    );
    return { facts, reachesBack: true, next: page.next_page_key ?? null };
  },

  ask: async (access, ask) => {
    const { success, sale } = one.parse(await call(access, `sales/${askedId(ask)}`));
    const [, ended] = ENDED_ASK.exec(ask) ?? [];
    const endedMs = ended === undefined ? undefined : Number(ended);
    return success ? toGumroadFacts(sale, { isTestPing: ask.startsWith('test-'), endedMs }) : [];
  },

  connect: async (access, webhookUrl) => {
    for (const resource of RESOURCES) await register(access, resource, webhookUrl);
  },

  /** Gumroad has no page for one purchase that the seller could open. */
  storeLink: () => Promise.resolve('https://app.gumroad.com/library'),
};
