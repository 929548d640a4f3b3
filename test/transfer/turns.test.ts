import { runInDurableObject } from 'cloudflare:test';
import { exports } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { MAX_IMPORT_BYTES } from '../../src/shared/rules/transfer-limits.ts';
import { importLines } from '../../src/transfer/import.ts';
import { type Customer, ORIGIN, signUp } from '../support/client.ts';
import { ctxOf } from '../support/databases.ts';
import { evict, gate, kill } from '../support/gate.ts';
import { sellerOn } from '../support/worlds.ts';
import { exportAll, importAs, toLines } from './transfer.ts';

const one = toLines([{ license_key: 'KEY-000001' }]);

const startExport = ({ token }: Customer) =>
  exports.default.fetch(
    new Request(`${ORIGIN}/api/export`, { headers: { authorization: `Bearer ${token}` } }),
  );

const LEASE_MS = 15_000;
const leaseEnds = () => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + LEASE_MS });

test('an account has one import or export at a time, and another is told when to come again', async () => {
  const customer = await signUp();
  const running = await startExport(customer);
  const refused = await exports.default.fetch(
    new Request(`${ORIGIN}/api/v1/licenses/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${customer.token}`, 'content-type': 'text/csv' },
      body: 'license_key\nKEY-000001\n',
    }),
  );
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
  expect(await refused.json()).toMatchObject({
    error: { code: 'rate_limit_exceeded', message: 'Another Import or Export Is Running' },
  });
  expect((await exportAll(await signUp())).at(-1)?.['type']).toBe('end');
  await running.text();
  expect((await importAs(customer, one)).totals).toMatchObject({ created: 1 });
});

test('an import that is given up, or that is refused, leaves its place to the next', async () => {
  const customer = await signUp();
  await (await startExport(customer)).body?.cancel();
  const refused = async () =>
    (await importAs(customer, 'nothing\n1\n', '', { 'content-type': 'text/csv' })).status;
  await expect.poll(refused).toBe(400);
  expect((await importAs(customer, one)).totals).toMatchObject({ created: 1 });
});

test('a transfer that has died keeps its place for 15 seconds, also when the gate restarts', async () => {
  const customer = await signUp();
  expect(await gate(customer.accountId).takeTransferTurn('dead', 0)).toMatchObject({ refused: null });
  await evict(customer.accountId);
  expect((await importAs(customer, one)).status).toBe(429);
  await kill(customer.accountId);
  expect((await importAs(customer, one)).status).toBe(429);
  leaseEnds();
  try {
    await evict(customer.accountId);
    expect((await importAs(customer, one)).totals).toMatchObject({ created: 1 });
  } finally {
    vi.useRealTimers();
  }
});

test('a transfer that died under version 1.0, which stored no end of its place, keeps out no other', async () => {
  const customer = await signUp();
  await runInDurableObject(gate(customer.accountId), (_gate, { storage }) => {
    storage.kv.put('transfer', 'dead');
  });
  await evict(customer.accountId);
  expect((await importAs(customer, one)).totals).toMatchObject({ created: 1 });
});

test('a transfer that was slow goes on, unless another has taken its place', async () => {
  const { accountId } = await signUp();
  const turnOf = async (id: string) => (await gate(accountId).takeTransferTurn(id, 0)).refused;
  expect(await turnOf('slow')).toBe(null);
  try {
    leaseEnds();
    expect(await turnOf('slow')).toBe(null);
    leaseEnds();
    expect([await turnOf('other'), await turnOf('slow')]).toEqual([null, 'rate_limit_exceeded']);
    await gate(accountId).endTransfer('slow');
    expect(await turnOf('slow')).toBe('rate_limit_exceeded');
    await gate(accountId).endTransfer('other');
    expect(await turnOf('slow')).toBe(null);
  } finally {
    vi.useRealTimers();
  }
});

test('a transfer goes at the pace of the plan, after a burst of two seconds’ worth', async () => {
  const waitsOf = async ({ accountId }: Customer, calls: number) => {
    const turn = await gate(accountId).takeTransferTurn('id', calls);
    return turn.refused === null ? Math.round(turn.waitMs / 1_000) : null;
  };
  const free = await signUp();
  expect([await waitsOf(free, 20), await waitsOf(free, 10), await waitsOf(free, 40)]).toEqual([0, 1, 5]);
  expect(await waitsOf(await sellerOn('pro'), 200)).toBe(0);
  const { body } = await free.asKey('GET', '/api/v1/licenses?limit=1');
  expect(body.data).toEqual([]);
});

/** Imports as a dry run, and returns the cost and the number of answers of each turn. */
const turnsOf = async (chunks: string[], after = 0) => {
  const { accountId } = await signUp();
  const costs: number[] = [];
  const answers: number[] = [];
  const pages = importLines({
    ctx: ctxOf(accountId),
    takeTurn: (calls) => {
      costs.push(Math.round(calls * 10) / 10);
      return Promise.resolve();
    },
    format: 'ndjson',
    body: { chunks, isCut: false },
    after,
    options: { onConflict: 'fail', isDryRun: true, allowsLabels: false, hasEvents: false },
    serviceHost: 'latchkey.example',
  });
  for await (const page of pages) answers.push(page.length);
  return { costs, answers };
};

test('an import lets other calls go on after every 500 lines, also if they fail', async () => {
  const long = `{"type":"end","x":"${'x'.repeat(60_000)}"}\n`;
  const { costs, answers } = await turnsOf(['1\n'.repeat(3_000), '\n'.repeat(1_000), long.repeat(20)]);
  // The last answer has the totals.
  expect(answers).toEqual([...Array.from({ length: 6 }, () => 500), 8, 8, 4, 1]);
  // Lines cost a hundredth of a call, and long ones by their length.
  expect(costs.map(Math.round)).toEqual([5, 5, 5, 5, 5, 5, 19, 19, 10]);
});

test('lines that are empty, or that an earlier request has imported, cost a tenth and divide no turn', async () => {
  const line = '{"type":"end"}\n';
  const sparse = await turnsOf([`${'\n'.repeat(2_000)}${line}`.repeat(240)]);
  expect(sparse.answers).toEqual([240, 1]);
  expect(sparse.costs).toHaveLength(49);
  expect(Math.max(...sparse.costs)).toBe(10);
  expect((await turnsOf([line.repeat(20_000), line], 20_000)).answers).toEqual([1, 1]);
  expect((await turnsOf(['\n'.repeat(MAX_IMPORT_BYTES)])).costs.length).toBeLessThan(530);
});
