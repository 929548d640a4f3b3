import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { openShop, paid } from '../stores/shop.ts';

// What `any-order.test.ts` says of the rules, with real storage: licenses that can be used at the end are the same.

const HISTORY = [
  paid('1', { period_end: '2099-01-31', amount: 9 }),
  { type: 'renewed', order: '1', period_end: '2099-02-28', amount: 9 },
  { type: 'renewed', order: '1', period_end: '2099-03-31', amount: 9 },
  { type: 'refunded', order: '1', period_end: '2099-03-31' },
  { type: 'disputed', order: '1', period_end: '2099-02-28' },
  { type: 'dispute_won', order: '1', period_end: '2099-02-28' },
  { type: 'past_due', order: '1', period_end: '2099-04-30' },
  { type: 'ended', order: '1' },
];

test('stored histories end alike in any order, also when bodies come at once', async () => {
  const order = fc.shuffledSubarray(HISTORY, { minLength: HISTORY.length, maxLength: HISTORY.length });
  const copies = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 8, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(order, copies, fc.integer({ min: 1, max: 3 }), async (bodies, times, atOnce) => {
      const shop = await openShop();
      await shop.offer('pro', { grant: 'subscription' });
      const sent = bodies.flatMap((body, i) => Array.from({ length: times[i] ?? 1 }, () => body));
      for (let i = 0; i < sent.length; i += atOnce)
        await Promise.all(sent.slice(i, i + atOnce).map((body) => shop.notify(body)));
      const licenses = await shop.licenses();
      expect(licenses.map(({ status, expires_at, terms }) => [status, expires_at, terms])).toEqual([
        ['active', '2099-02-28', { grace_days: 0 }],
      ]);
      expect((await shop.ada.verify(licenses[0]?.license_key)).body.status).toBe('active');
      expect(await shop.purchases()).toMatchObject([{ status: 'ended', reason: null }]);
    }),
    { numRuns: 12 },
  );
});
