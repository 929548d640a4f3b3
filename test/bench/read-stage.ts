// Counts the rows that calls read: of D1 by lists and searches of a big account, and of the gate by calls about a license
// whose seats are all taken. The lists use the service with the counters.
import { expectOk } from '../crash/customer.ts';
import { PATH, queriesOf } from './list-stage.ts';
import type { Load } from './load/load.ts';
import { valueAt } from './load/plan.ts';
import { costOfReads } from './prices.ts';
import { fillSeats, LEASE_SECONDS, MANY_SEATS } from './seat-stage.ts';
import { type Grown, type Licensed, probe } from './seed.ts';
import type { Running } from './service.ts';

/** Rows read per call, by what is called. */
export type ReadFigures = Record<string, number>;

const REPEATS = 20;

const headersOf = ({ apiKeys }: Licensed) => ({ 'x-api-key': valueAt(apiKeys, 0) });

/** Rows of the gate, for a license with 10,000 seats. */
export const countSeatReads = async (
  load: Load,
  service: Running,
  account: Licensed,
): Promise<ReadFigures> => {
  const headers = headersOf(account);
  const { licenses, machines } = await fillSeats(load, service, account, MANY_SEATS, LEASE_SECONDS.usual);
  const [licenseKey, machine] = [valueAt(licenses, 0), valueAt(machines, 0)];
  const call = (name: string, fingerprint: string) => async () =>
    expectOk(await service.post(`${PATH}/${name}`, { license_key: licenseKey, fingerprint }, headers));
  const { data } = expectOk(await service.get(`${PATH}?q=${licenseKey}`, headers)) as {
    data: { id: string }[];
  };
  const list = async () => expectOk(await service.get(`${PATH}/${data[0]?.id}/activations?limit=1`, headers));
  const count = async (work: () => Promise<unknown>) => {
    // The first call may count the license's seats, which are in memory afterwards.
    await work();
    const before = await probe(service, account.accountId);
    for (let n = 0; n < REPEATS; n++) await work();
    const after = await probe(service, account.accountId);
    return (after.gate.rowsRead - before.gate.rowsRead) / REPEATS;
  };
  const stranger = 'machine-without-a-seat';
  return {
    'verify, 10,000 seats': await count(call('verify', machine)),
    'heartbeat, 10,000 seats': await count(call('heartbeat', machine)),
    'activate without a free seat': await count(call('activate', stranger)),
    'heartbeat without a free seat': await count(call('heartbeat', stranger)),
    'a list of one activation': await count(list),
    'deactivate and activate': await count(async () => {
      await call('deactivate', machine)();
      await call('activate', machine)();
    }),
  };
};

/** Rows of D1, for the first call of each kind. */
export const countListReads = async (service: Running, account: Grown): Promise<ReadFigures> => {
  const headers = headersOf(account);
  const figures: ReadFigures = {};
  const middle = account.licenses.count >> 1;
  for (const [name, query] of await queriesOf(service, account)) {
    const filled = query
      .replace('{license}', valueAt(account.licenses, middle))
      .replace('{email}', valueAt(account.emails, middle));
    const before = await probe(service, account.accountId);
    expectOk(await service.get(`${PATH}?${filled}`, headers));
    const after = await probe(service, account.accountId);
    figures[name] = after.d1.rowsRead - before.d1.rowsRead;
  }
  return figures;
};

export const readLines = (title: string, figures: ReadFigures): string[] => [
  title,
  ...Object.entries(figures).map(
    ([name, rows]) =>
      `  ${name.padEnd(32)}${rows.toFixed(rows < 10 ? 2 : 0)} rows, $${costOfReads(rows).toFixed(4)} for a million calls`,
  ),
];
