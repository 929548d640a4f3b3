import { runInDurableObject } from 'cloudflare:test';
import { env as bindings } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { openLedger } from '../../src/gate/object/ledger.ts';
import { openOutgoing, openRelay } from '../../src/gate/object/outgoing.ts';
import { openObject } from '../../src/shared/objects/context.ts';
import { newEvent, type WebhookEvent } from '../../src/shared/text/events.ts';
import { countRows } from '../support/gate.ts';

/** The largest value that Durable Object storage accepts, in bytes. */
const LARGEST_TEXT = 2_000_000;

const gate = () => bindings.GATE.getByName('acct_00000000000000000000');

const created = () => newEvent('license.created', Date.now(), { customer_email: 'ada@example.com' });

test('1,500 events of one commit are forwarded in order, in batches that fit into storage', async () => {
  const events = Array.from({ length: 1_500 }, (_, index) =>
    newEvent('license.created', index, { customer_email: 'ada@example.com', filler: 'é"\\'.repeat(500) }),
  );
  await runInDurableObject(gate(), (_gate, { storage }) => {
    const outgoing = openOutgoing(storage.sql);
    for (const event of events.slice(0, 3)) outgoing.add(event);
    outgoing.kept.takeText();
    outgoing.insert(events.slice(3));
    const forwarded: WebhookEvent[] = [];
    for (let batch = outgoing.next(); batch; batch = outgoing.next()) {
      expect(new TextEncoder().encode(batch.events).length).toBeLessThan(LARGEST_TEXT);
      forwarded.push(...(JSON.parse(batch.events) as WebhookEvent[]));
      outgoing.remove(batch);
    }
    expect(forwarded).toEqual(events);
    expect(outgoing.isEmpty()).toBe(true);
  });
});

test('a few events cost no row of their own, and wait in the row of the counters until the outbox has them', async () => {
  await runInDurableObject(gate(), (_gate, { storage: { sql } }) => {
    const open = () => {
      const outgoing = openOutgoing(sql);
      return { outgoing, ledger: openLedger(sql, outgoing.kept) };
    };
    const { outgoing, ledger } = open();
    const forwarded = (from = outgoing) => JSON.parse(from.next()?.events ?? '[]') as WebhookEvent[];
    const verify = (event: WebhookEvent) =>
      countRows(sql, () => {
        ledger.count('verify', 0, Date.now());
        outgoing.add(event);
        ledger.write();
      });
    verify(created());
    const [second, third] = [created(), created()];
    const [first] = forwarded();
    expect(verify(second)).toBe(1);
    expect(forwarded(open().outgoing)).toEqual([first, second]);

    const batch = outgoing.next();
    expect(verify(third)).toBe(1);
    expect(batch && countRows(sql, () => outgoing.remove(batch))).toBe(0);
    expect(forwarded()).toEqual([third]);
    // Nothing of an event stays once the outbox has it and the alarm has come.
    const rest = outgoing.next();
    if (rest) outgoing.remove(rest);
    expect([outgoing.isEmpty(), outgoing.hasTraces()]).toEqual([true, true]);
    expect(countRows(sql, outgoing.clear)).toBe(1);
    expect([outgoing.hasTraces(), open().outgoing.isEmpty()]).toEqual([false, true]);
    expect(countRows(sql, outgoing.clear)).toBe(0);

    const many = Array.from({ length: 7 }, created);
    many.forEach(outgoing.add);
    expect(countRows(sql, ledger.write)).toBe(2);
    expect(forwarded(open().outgoing)).toEqual(many);
    sql.exec('DELETE FROM outgoing');
  });
});

test('an event that arrives while the outbox accepts a batch waits for the next batch', async () => {
  await runInDurableObject(gate(), async (_gate, ctx) => {
    const outgoing = openOutgoing(ctx.storage.sql);
    const [first, second] = [created(), created()];
    const batches: WebhookEvent[][] = [];
    const accept = async (events: string) => {
      batches.push(JSON.parse(events) as WebhookEvent[]);
      if (batches.length === 1) outgoing.insert([second]);
      return { wantsVerified: true };
    };
    const env = { OUTBOX: { getByName: () => ({ accept }) } } as unknown as Env;
    const relay = openRelay(openObject(ctx, env, 'acct_00000000000000000000'), outgoing);
    outgoing.insert([first]);
    await relay.forward();
    expect(batches).toEqual([[first]]);
    expect(openOutgoing(ctx.storage.sql).isEmpty()).toBe(false);
    await relay.forward();
    expect(batches).toEqual([[first], [second]]);
    expect(outgoing.isEmpty()).toBe(true);
  });
});
