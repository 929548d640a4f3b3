// Listing and searching licenses in a big account against the same in a small one.
import { expectOk } from '../crash/customer.ts';
import type { Load } from './load/load.ts';
import { requestOf, valueAt } from './load/plan.ts';
import type { Options } from './options.ts';
import { type Figure, measure, type Target } from './rounds.ts';
import type { Grown } from './seed.ts';
import type { Running } from './service.ts';

const PATH = '/api/v1/licenses';

interface Page {
  data: { id: string; customer_email: string }[];
}

/** Name and query; `{license}` is another key each time. */
const queriesOf = async (service: Running, { apiKeys, licenses }: Grown): Promise<[string, string][]> => {
  const middle = valueAt(licenses, licenses.count >> 1);
  const headers = { 'x-api-key': valueAt(apiKeys, 0) };
  const { data } = expectOk(await service.get(`${PATH}?q=${middle}`, headers)) as Page;
  const [license] = data;
  if (!license || data.length > 1) throw new Error('A license key finds its license and no other.');
  return [
    ['list', ''],
    ['list, a page in the middle', `?cursor=${license.id}`],
    ['list, active', '?status=active'],
    ['list, expired', '?status=expired'],
    ['list, suspended', '?status=suspended'],
    ['list, revoked', '?status=revoked'],
    ['search, a license key', '?q={license}'],
    ['search, the end of a key', `?q=${middle.slice(-11)}`],
    ['search, an e-mail address', `?q=${encodeURIComponent(license.customer_email)}`],
    ['search, a common last name', '?q=lovelace'],
    ['search, a common product', '?q=orrery'],
    ['search, two letters', '?q=as'],
    ['search, a product, suspended', '?q=orrery&status=suspended'],
    ['search, nothing like it', '?q=zzqqxxzzqqxx'],
  ];
};

const toTarget = (service: Running, { apiKeys, licenses }: Grown, name: string, query: string): Target => ({
  name,
  runtime: service.runtime,
  request: requestOf('GET', `${PATH}${query}`, { 'x-api-key': '{key}' }, '', {
    key: { values: apiKeys },
    license: { values: licenses },
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
  const slice = { connections: 1, calls: listCalls, durationMs: 4 * sliceMs };
  for (const [name, query] of smallQueries) {
    const targets = [
      { ...toTarget(small.service, small.account, name, query), name: 'small' },
      { ...toTarget(big.service, big.account, name, bigQueries.get(name) ?? ''), name: 'big' },
    ];
    const measured = await measure(load, targets, slice, rounds);
    if (measured['small']) figures.small[name] = measured['small'];
    if (measured['big']) figures.big[name] = measured['big'];
  }
  return figures;
};
