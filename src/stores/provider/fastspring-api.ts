import { Buffer } from 'node:buffer';
import * as z from 'zod';
import type { StoreFact } from '../../purchases/rules/facts.ts';
import { DAY_MS } from '../../shared/rules/dates.ts';
import { accountOf, toAccountFacts, toAskedFacts, toSpringFacts } from './fastspring-facts.ts';
import { springEvent } from './fastspring-objects.ts';
import { askedId, idsOf, tellAll } from './parts.ts';
import type { ApiAccess, StoreApi } from './provider.ts';

/** FastSpring lists no older events. */
const MAX_AGE_MS = 29 * DAY_MS;

/** Whether a receiver has answered for an event. It may have been another one than this service. */
const LISTS = ['unprocessed', 'processed'];

const page = z.object({ events: z.array(springEvent), more: z.boolean().nullish() });

const get = (access: ApiAccess, path: string): Promise<unknown> =>
  access.call(path, {
    headers: {
      authorization: `Basic ${Buffer.from(access.key).toString('base64')}`,
      'user-agent': 'Latchkey',
    },
  });

/** One object comes as it is, or in a list of one. */
const getOne = async (access: ApiAccess, kind: string, id: string): Promise<unknown> => {
  const answer = z.record(z.string(), z.unknown()).parse(await get(access, `/${kind}s/${id}`));
  const list = answer[`${kind}s`];
  return Array.isArray(list) ? list[0] : answer;
};

const urls = z.object({ accounts: z.array(z.object({ url: z.url() })).min(1) });

export const fastspringApi: StoreApi = {
  origin: () => 'https://api.fastspring.com',

  keyProblem: (key) =>
    /^[^:\s]+:[^\s]+$/.test(key) ? null : 'must be the username and the password, with a colon between them',

  /** A page has 25 events. The next one begins, or ends, where this one does. */
  listRecent: async (access, sinceMs, cursor) => {
    const nowMs = Date.now();
    const first = [0, Math.max(sinceMs, nowMs - MAX_AGE_MS), nowMs];
    const [index = 0, begin = 0, end = nowMs] = cursor?.split(' ').map(Number) ?? first;
    const sent = page.parse(await get(access, `/events/${LISTS[index]}?begin=${begin}&end=${end}`));
    const times = sent.events.map(({ created }) => created);
    const isNewestFirst = (times[0] ?? 0) > (times.at(-1) ?? 0);
    const rest = isNewestFirst
      ? [begin, Math.min(Math.min(...times), end - 1)]
      : [Math.max(Math.max(...times), begin + 1), end];
    const hasMore = sent.more === true && times.length > 0 && rest[0]! < rest[1]!;
    const isLast = index === LISTS.length - 1;
    const following = isLast ? null : [index + 1, ...first.slice(1)].join(' ');
    return {
      ...tellAll(sent.events.map((event) => () => toSpringFacts(event))),
      next: hasMore ? [index, ...rest].join(' ') : following,
    };
  },

  ask: async (access, ask): Promise<StoreFact[]> => {
    const kind = ask.startsWith('order/') ? 'order' : 'subscription';
    const object = await getOne(access, kind, askedId(ask));
    const owner = accountOf(object);
    const known =
      owner === undefined ? [] : toAccountFacts(await getOne(access, 'account', encodeURIComponent(owner)));
    return [...toAskedFacts(kind, object), ...known];
  },

  needsBuyer: true,
  storeLink: async (access, _things, buyer) => {
    const [owner] = buyer === null ? [] : idsOf([buyer], 'customer');
    if (owner === undefined) return null;
    const { accounts } = urls.parse(await get(access, `/accounts/${encodeURIComponent(owner)}/authenticate`));
    return accounts[0]?.url ?? null;
  },
};
