import * as z from 'zod';
import { DAY_MS } from '../../shared/rules/dates.ts';
import { askedId, id, idsOf, tellAll, time } from './parts.ts';
import { toPolarFacts } from './polar-facts.ts';
import type { ApiAccess, StoreApi } from './provider.ts';

const SANDBOX = 'sandbox:';
const PAGE = 100;

/** What becomes of an older object doesn't move it in a list: Polar tries for three weeks to collect a renewal. */
const LOOK_BACK_MS = 30 * DAY_MS;

const pageOf = z.object({
  items: z.array(z.unknown()),
  pagination: z.object({ max_page: z.number() }),
});
const created = z.object({ created_at: time });
const refund = z.object({ order_id: id });
const session = z.object({ customer_portal_url: z.url() });

const call = (access: ApiAccess, path: string, json?: unknown): Promise<unknown> => {
  const token = access.key.startsWith(SANDBOX) ? access.key.slice(SANDBOX.length) : access.key;
  return access.call(`/v1/${path}`, {
    headers: { authorization: `Bearer ${token}` },
    ...(json !== undefined && { method: 'POST' as const, json }),
  });
};

interface List {
  name: string;
  lookBackMs: number;
  tell: (item: unknown) => ReturnType<typeof toPolarFacts>;
}

/** What is listed, one after the other, each with its newest objects first. */
const LISTS: List[] = [
  { name: 'orders', lookBackMs: LOOK_BACK_MS, tell: (item) => toPolarFacts('order.listed', item) },
  // A refund names its order, which has the sum of them all.
  {
    name: 'refunds',
    lookBackMs: 0,
    tell: (item) => ({ facts: [], asks: [`order/${refund.parse(item).order_id}`] }),
  },
  {
    name: 'subscriptions',
    lookBackMs: LOOK_BACK_MS,
    tell: (item) => toPolarFacts('subscription.listed', item),
  },
];

const pathOf = ({ name }: List, page: number) =>
  `${name}/?limit=${PAGE}&page=${page}&sorting=${name === 'subscriptions' ? '-started_at' : '-created_at'}`;

export const polarApi: StoreApi = {
  /** A token doesn't say whether it is of the sandbox. */
  origin: (key) => (key.startsWith(SANDBOX) ? 'https://sandbox-api.polar.sh' : 'https://api.polar.sh'),

  listRecent: async (access, sinceMs, cursor) => {
    const [index = 0, number = 1] = cursor?.split(' ').map(Number) ?? [];
    const list = LISTS[index] ?? LISTS[0]!;
    const page = pageOf.parse(await call(access, pathOf(list, number)));
    const isRecent = (item: unknown) =>
      (created.safeParse(item).data?.created_at ?? 0) >= sinceMs - list.lookBackMs;
    const recent = page.items.filter(isRecent);
    const hasMore = number < page.pagination.max_page && recent.length > 0;
    const isLast = index === LISTS.length - 1;
    return {
      ...tellAll(recent.map((item) => () => list.tell(item))),
      ...(list.lookBackMs > 0 && { reachesBack: true as const }),
      next: hasMore ? `${index} ${number + 1}` : isLast ? null : `${index + 1} 1`,
    };
  },

  ask: async (access, ask) =>
    toPolarFacts('order.listed', await call(access, `orders/${askedId(ask)}`)).facts,

  needsBuyer: true,
  storeLink: async (access, _things, buyer) => {
    const [customer] = buyer === null ? [] : idsOf([buyer], 'customer');
    if (customer === undefined) return null;
    return session.parse(await call(access, 'customer-sessions/', { customer_id: customer }))
      .customer_portal_url;
  },
};
