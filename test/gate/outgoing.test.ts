import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { openOutgoing } from '../../src/gate/outgoing.ts';
import { newEvent, type WebhookEvent } from '../../src/shared/events.ts';

/** Storage takes a text of 2 MB. */
const LARGEST_TEXT = 2_000_000;

test('however many events one commit has, they leave in order, in parts that storage can hold', async () => {
  const events = Array.from({ length: 1_500 }, (_, index) =>
    newEvent('license.created', index, { customer_email: 'ada@example.com', filler: 'é"\\'.repeat(500) }),
  );
  await runInDurableObject(env.GATE.getByName('acct_00000000000000000000'), (_gate, { storage }) => {
    const outgoing = openOutgoing(storage.sql);
    for (const event of events.slice(0, 3)) outgoing.add(event);
    outgoing.write();
    outgoing.insert(events.slice(3));
    const left: WebhookEvent[] = [];
    for (let part = outgoing.next(); part; part = outgoing.next()) {
      expect(new TextEncoder().encode(part.events).length).toBeLessThan(LARGEST_TEXT);
      left.push(...(JSON.parse(part.events) as WebhookEvent[]));
      outgoing.remove(part.throughSeq);
    }
    expect(left).toEqual(events);
    expect(outgoing.isEmpty()).toBe(true);
  });
});
