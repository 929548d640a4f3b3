// Compares listing and searching licenses in a big account with the same queries in a small account.
import { expectOk } from '../crash/customer.ts';
import type { Load } from './load/load.ts';
import { requestOf, valueAt } from './load/plan.ts';
import type { Options } from './options.ts';
import { type Figure, measure, type Target } from './rounds.ts';
import type { Grown } from './seed.ts';
import type { Running } from './service.ts';

export const PATH = '/api/v1/licenses';

interface Page {
  data: { id: string }[];
}

const pageOf = async (service: Running, { apiKeys }: Grown, query: string): Promise<Page> =>
  expectOk(await service.get(`${PATH}?${query}`, { 'x-api-key': valueAt(apiKeys, 0) })) as Page;

/** Names and queries. `{license}` and `{email}` are replaced with a different value in each call. */
export const queriesOf = async (service: Running, account: Grown): Promise<[string, string][]> => {
  const middle = valueAt(account.licenses, account.licenses.count >> 1);
  const { data } = await pageOf(service, account, `q=${middle}`);
  const [license] = data;
  if (!license || data.length > 1)
    throw new Error('The search for a license key must return exactly one license.');
  return [
    ['list', ''],
    ['list, a page in the middle', `cursor=${license.id}`],
    ['list, active', 'status=active'],
    ['list, expired', 'status=expired'],
    ['list, suspended', 'status=suspended'],
    ['list, revoked', 'status=revoked'],
    ['search, a license key', 'q={license}'],
    ['search, the end of a key', `q=${middle.slice(-11)}`],
    ['search, an e-mail address', 'q={email}'],
    ['search, a common last name', 'q=lovelace'],
    ['search, a common product', 'q=orrery'],
    ['search, two letters', 'q=as'],
    ['search, a product, suspended', 'q=orrery&status=suspended'],
    ['search, nothing like it', 'q=zzqqxxzzqqxx'],
  ];
};

/** Calls per round of a search that compares some 1,100 licenses: an account may compare 60,000 at once. */
const FEWER_CALLS: Record<string, number> = { 'search, a product, suspended': 8 };

/** Limits both pages to the rows that the small account has, so that both return equally many. */
const fullPage = async (small: Side, query: string): Promise<string> => {
  const { data } = await pageOf(small.service, small.account, query);
  return data.length > 0 ? `&limit=${data.length}` : '';
};

const toTarget = (
  service: Running,
  { apiKeys, licenses, emails }: Grown,
  name: string,
  query: string,
): Target => ({
  name,
  runtime: service.runtime,
  request: requestOf('GET', `${PATH}?${query}`, { 'x-api-key': '{key}' }, '', {
    key: { values: apiKeys },
    license: { values: licenses },
    email: { values: emails },
  }),
  expect: { status: 200, text: name.includes('nothing') ? '"data":[]' : '"data":[{' },
});

export interface ListFigures {
  small: Record<string, Figure>;
  big: Record<string, Figure>;
}

interface Side {
  service: Running;
  account: Grown;
}

export const measureLists = async (
  load: Load,
  { rounds, listCalls, sliceMs }: Options,
  small: Side,
  big: Side,
): Promise<ListFigures> => {
  const figures: ListFigures = { small: {}, big: {} };
  const smallQueries = await queriesOf(small.service, small.account);
  const bigQueries = new Map(await queriesOf(big.service, big.account));
  for (const [name, query] of smallQueries) {
    const calls = Math.min(listCalls, FEWER_CALLS[name] ?? listCalls);
    const slice = { connections: 1, calls, durationMs: 4 * sliceMs };
    const limit = await fullPage(small, query);
    const targets = [
      { ...toTarget(small.service, small.account, name, query + limit), name: 'small' },
      { ...toTarget(big.service, big.account, name, (bigQueries.get(name) ?? '') + limit), name: 'big' },
    ];
    const measured = await measure(load, targets, slice, rounds);
    if (measured['small']) figures.small[name] = measured['small'];
    if (measured['big']) figures.big[name] = measured['big'];
  }
  return figures;
};
