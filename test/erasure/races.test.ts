import { runInDurableObject } from 'cloudflare:test';
import { expect, test } from 'vitest';
import type { Ctx } from '../../src/db/ctx.ts';
import { eraseCustomerRows } from '../../src/erasure/customer-rows.ts';
import { eraseCustomer } from '../../src/erasure/customer.ts';
import { importLines } from '../../src/transfer/import.ts';
import { signUp } from '../support/client.ts';
import { accountsD1, ctxOf } from '../support/databases.ts';
import { findInD1 } from '../support/leftovers.ts';
import { outbox, withOutboxMethod } from '../support/outbox.ts';

const ANN = 'ann@races.example';
const BEN = 'ben@races.example';
const CARL = 'carl@races.example';

/** Runs `work` after the context's first batch, which reads. */
const afterRead = (ctx: Ctx, work: () => Promise<unknown>): Ctx => {
  let isFirst = true;
  const batch = async (statements: Parameters<Ctx['db']['batch']>[0]) => {
    const results = await ctx.db.batch(statements);
    if (!isFirst) return results;
    isFirst = false;
    await work();
    return results;
  };
  return {
    ...ctx,
    db: new Proxy(ctx.db, {
      get: (db, property) => (property === 'batch' ? batch : (Reflect.get(db, property) as unknown)),
    }),
  };
};

const furnish = async () => {
  const ada = await signUp();
  const { id, license_key: licenseKey } = await ada.createLicense({ customer_email: ANN });
  const pass = (email: string) => ada.asSession('PATCH', `/api/v1/licenses/${id}`, { customer_email: email });
  return { ada, ctx: ctxOf(ada.accountId), licenseKey, pass };
};

test('customers who are erased at the same time are gone from a license that both had', async () => {
  const { ctx, pass } = await furnish();
  await pass(BEN);
  await pass(CARL);
  const slow = afterRead(ctx, () => eraseCustomer(ctx, BEN));
  expect(await eraseCustomerRows(slow, ANN, () => {})).toBe(1);
  expect(await findInD1(accountsD1, [ANN, BEN])).toEqual([]);
  expect(await findInD1(accountsD1, [CARL])).toEqual(expect.arrayContaining(['licenses']));
});

test('an import that has read a license before the customer was erased doesn’t bring them back', async () => {
  const { ada, ctx, licenseKey } = await furnish();
  const lines = importLines({
    ctx: afterRead(ctx, () => eraseCustomer(ctx, ANN)),
    format: 'ndjson',
    text: JSON.stringify({ type: 'license', license_key: licenseKey, customer_name: 'Imported' }),
    isCut: false,
    options: { onConflict: 'update', isDryRun: false, hasEvents: false },
    serviceHost: 'latchkey.example',
  });
  expect(await Array.fromAsync(lines)).toMatchObject([[{ result: 'updated' }], [{}]]);
  expect(await findInD1(accountsD1, [ANN])).toEqual([]);
  const { data } = (await ada.asSession('GET', `/api/v1/licenses?q=${licenseKey}`)).body;
  expect(data).toMatchObject([{ customer_name: 'Imported', customer_email: 'erased@customer.invalid' }]);
});

test('an erasure that is requested again while it ends starts over', async () => {
  const { ada, ctx } = await furnish();
  // The repeat is cut off at once.
  const cutOff = afterRead(ctx, () => Promise.reject(new Error('cut off')));
  const env = withOutboxMethod('eraseEvents', async (eraseEvents, args) => {
    await ada.createLicense({ customer_email: ANN });
    await expect(eraseCustomer(cutOff, ANN)).rejects.toThrow('cut off');
    return eraseEvents(...args);
  });
  await eraseCustomer({ ...ctx, env }, ANN);
  expect(await findInD1(accountsD1, [ANN])).toContain('erasures');
  await eraseCustomer(ctx, ANN);
  expect(await findInD1(accountsD1, [ANN])).toEqual([]);
});

test('a customer with many licenses is erased in few queries', async () => {
  const { ada, ctx } = await furnish();
  const text = Array.from({ length: 1_200 }, (_, i) =>
    JSON.stringify({ type: 'license', customer_email: i % 2 ? ANN : BEN }),
  );
  const lines = importLines({
    ctx,
    format: 'ndjson',
    text: text.join('\n'),
    isCut: false,
    options: { onConflict: 'fail', isDryRun: false, hasEvents: false },
    serviceHost: 'latchkey.example',
  });
  await Array.fromAsync(lines);
  let commits = 0;
  expect(await eraseCustomerRows(ctx, ANN, () => commits++)).toBe(601);
  expect(commits).toBe(2);
  expect((await ada.asSession('GET', `/api/v1/licenses?q=${ANN}`)).body.data).toEqual([]);
});

test('a turn of the outbox reads a limited number of events, whether the customer is in them or not', async () => {
  const { ada, ctx } = await furnish();
  await runInDurableObject(outbox(ada.accountId), (_outbox, { storage: { sql } }) => {
    sql.exec(`WITH RECURSIVE numbers(n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2100)
      INSERT INTO event_blocks (last_id, first_id, size, events) SELECT 'evt_' || n, 'evt_' || n, 0, '[]' FROM numbers`);
  });
  let turns = 0;
  const env = withOutboxMethod('eraseEvents', async (eraseEvents, args) => {
    turns++;
    return eraseEvents(...args);
  });
  expect((await eraseCustomer({ ...ctx, env }, ANN)).events).toBe(1);
  expect(turns).toBe(3);
});
