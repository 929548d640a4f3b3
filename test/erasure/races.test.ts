import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Ctx } from '../../src/db/ctx.ts';
import { eraseCustomerRows } from '../../src/erasure/customer-rows.ts';
import { eraseCustomer } from '../../src/erasure/customer.ts';
import { importLines } from '../../src/transfer/import.ts';
import { signUp } from '../support/client.ts';
import { accountsD1, ctxOf } from '../support/databases.ts';
import { finishErasure, runErasureAlarm } from '../support/erasing.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate } from '../support/gate.ts';
import { findInD1 } from '../support/leftovers.ts';
import { outbox, withOutboxMethod } from '../support/outbox.ts';
import { waitUntil } from '../support/wait-until.ts';

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

let sellers = 0;

/** A seller with a license of the customer ann, whose address no other test has. `pass` passes it to another one. */
const sellerWithCustomer = async () => {
  const ada = await signUp();
  const ann = `ann@seller-${++sellers}.example`;
  const { id, license_key: licenseKey } = await ada.createLicense({ customer_email: ann });
  const pass = (email: string) => ada.asSession('PATCH', `/api/v1/licenses/${id}`, { customer_email: email });
  return { ada, ctx: ctxOf(ada.accountId), ann, licenseKey, pass };
};

test('customers who are erased at the same time are gone from a license that both had', async () => {
  const { ctx, ann, pass } = await sellerWithCustomer();
  const [ben, carl] = ['ben@races.example', 'carl@races.example'];
  await pass(ben);
  await pass(carl);
  const slow = afterRead(ctx, () => eraseCustomer(ctx, ben));
  expect(await eraseCustomerRows(slow, { subject: ann, names: [], position: '' }, () => {})).toBe(1);
  expect(await findInD1(accountsD1, [ann, ben])).toEqual([]);
  expect(await findInD1(accountsD1, [carl])).toEqual(expect.arrayContaining(['licenses']));
});

test('an import that has read a license before the customer was erased doesn’t bring them back', async () => {
  const { ada, ctx, ann, licenseKey } = await sellerWithCustomer();
  const lines = importLines({
    ctx: afterRead(ctx, () => eraseCustomer(ctx, ann)),
    takeTurn: () => Promise.resolve(),
    format: 'ndjson',
    body: {
      chunks: [JSON.stringify({ type: 'license', license_key: licenseKey, customer_name: 'Imported' })],
      isCut: false,
    },
    after: 0,
    options: { onConflict: 'update', isDryRun: false, allowsLabels: false, hasEvents: false },
    serviceHost: 'latchkey.example',
  });
  expect(await Array.fromAsync(lines)).toMatchObject([[{ result: 'updated' }], [{}]]);
  expect(await findInD1(accountsD1, [ann])).toEqual([]);
  const { data } = (await ada.asSession('GET', `/api/v1/licenses?q=${licenseKey}`)).body;
  expect(data).toMatchObject([{ customer_name: 'Imported', customer_email: 'erased@customer.invalid' }]);
});

test('an erasure that is requested again while it ends starts over', async () => {
  const { ada, ctx, ann } = await sellerWithCustomer();
  // The repeat is cut off at once.
  const cutOff = afterRead(ctx, () => Promise.reject(new Error('cut off')));
  const env = withOutboxMethod('eraseEvents', async (eraseEvents, args) => {
    await ada.createLicense({ customer_email: ann });
    await expect(eraseCustomer(cutOff, ann)).rejects.toThrow('cut off');
    return eraseEvents(...args);
  });
  await eraseCustomer({ ...ctx, env }, ann);
  expect(await findInD1(accountsD1, [ann])).toContain('erasures');
  await eraseCustomer(ctx, ann);
  expect(await findInD1(accountsD1, [ann])).toEqual([]);
});

/** Holds up the first list of erasures that a gate has read. */
const holdUpList = () => {
  const held = { isReached: false, isReleased: false };
  const statement = Object.getPrototypeOf(env.DB.prepare('SELECT 1')) as D1PreparedStatement;
  const raw = Reflect.get(statement, 'raw') as (...args: unknown[]) => Promise<unknown[]>;
  const spy = vi.spyOn(statement, 'raw').mockImplementation(async function (
    this: D1PreparedStatement,
    ...args: unknown[]
  ) {
    const rows = await raw.apply(this, args);
    const isList = String(Reflect.get(this, 'statement')).includes('from "erasures"');
    if (held.isReached || !isList) return rows;
    held.isReached = true;
    while (!held.isReleased) await scheduler.wait(5);
    return rows;
  });
  onTestFinished(() => spy.mockRestore());
  return held;
};

test.each([0, 60_000])(
  'a gate that looks for erasures also finishes one that begins meanwhile, in %d ms',
  async (inMs) => {
    useFakeClock();
    const { ctx, ann } = await sellerWithCustomer();
    await gate(ctx.accountId).eraseDue();
    const held = holdUpList();
    const alarm = runErasureAlarm(ctx.accountId);
    await waitUntil(() => held.isReached);
    // The Worker dies after the commit that begins the erasure, and after it has told the gate.
    const cutOff = afterRead(ctx, () => Promise.reject(new Error('cut off')));
    await expect(eraseCustomer(cutOff, ann)).rejects.toThrow('cut off');
    await gate(ctx.accountId).eraseDue(inMs);
    held.isReleased = true;
    await alarm;
    expect(await findInD1(accountsD1, [ann])).toContain('erasures');
    await finishErasure(ctx.accountId);
    expect(await findInD1(accountsD1, [ann])).toEqual([]);
  },
);

test('a customer with many licenses is erased in few queries', async () => {
  const { ada, ctx, ann } = await sellerWithCustomer();
  const text = Array.from({ length: 1_200 }, (_, i) =>
    JSON.stringify({ type: 'license', customer_email: i % 2 ? ann : 'someone@races.example' }),
  );
  const lines = importLines({
    ctx,
    takeTurn: () => Promise.resolve(),
    format: 'ndjson',
    body: { chunks: [text.join('\n')], isCut: false },
    after: 0,
    options: { onConflict: 'fail', isDryRun: false, allowsLabels: false, hasEvents: false },
    serviceHost: 'latchkey.example',
  });
  await Array.fromAsync(lines);
  let spent = 0;
  const spend = (queries: number) => {
    spent += queries;
  };
  expect(await eraseCustomerRows(ctx, { subject: ann, names: [], position: '' }, spend)).toBe(601);
  // Two commits, what finds the licenses, and two batches for what they were bought with.
  expect(spent).toBe(74);
  expect((await ada.asSession('GET', `/api/v1/licenses?q=${ann}`)).body.data).toEqual([]);
});

test('a turn of the outbox reads a limited number of events, whether the customer is in them or not', async () => {
  const { ada, ctx, ann } = await sellerWithCustomer();
  await runInDurableObject(outbox(ada.accountId), (_outbox, { storage: { sql } }) => {
    sql.exec(`WITH RECURSIVE numbers(n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2100)
      INSERT INTO event_blocks (last_id, first_id, size, events) SELECT 'evt_' || n, 'evt_' || n, 0, '[]' FROM numbers`);
  });
  let turns = 0;
  const env = withOutboxMethod('eraseEvents', async (eraseEvents, args) => {
    turns++;
    return eraseEvents(...args);
  });
  expect((await eraseCustomer({ ...ctx, env }, ann)).events).toBe(1);
  expect(turns).toBe(3);
});
