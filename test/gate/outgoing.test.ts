import { runInDurableObject } from 'cloudflare:test';
import { env as bindings } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { openOutgoing, openRelay } from '../../src/gate/object/outgoing.ts';
import { openObject } from '../../src/shared/objects/context.ts';
import { newEvent, type WebhookEvent } from '../../src/shared/text/events.ts';

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
    outgoing.write();
    outgoing.insert(events.slice(3));
    const forwarded: WebhookEvent[] = [];
    for (let batch = outgoing.next(); batch; batch = outgoing.next()) {
      expect(new TextEncoder().encode(batch.events).length).toBeLessThan(LARGEST_TEXT);
      forwarded.push(...(JSON.parse(batch.events) as WebhookEvent[]));
      outgoing.remove(batch.throughSeq);
    }
    expect(forwarded).toEqual(events);
    expect(outgoing.isEmpty()).toBe(true);
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
