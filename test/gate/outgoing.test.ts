import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { openOutgoing } from '../../src/gate/outgoing.ts';
import { newEvent, type WebhookEvent } from '../../src/shared/events.ts';

/** The largest value that Durable Object storage accepts, in bytes. */
const LARGEST_TEXT = 2_000_000;

test('1,500 events of one commit are forwarded in order, in batches that fit into storage', async () => {
  const events = Array.from({ length: 1_500 }, (_, index) =>
    newEvent('license.created', index, { customer_email: 'ada@example.com', filler: 'é"\\'.repeat(500) }),
  );
  await runInDurableObject(env.GATE.getByName('acct_00000000000000000000'), (_gate, { storage }) => {
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
