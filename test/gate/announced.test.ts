import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AnnouncedChanges, openAnnounced } from '../../src/gate/home/announced.ts';
import type { Receipt } from '../../src/gate/rules/replies.ts';

/** A fake of a Durable Object's key-value storage. */
const newStorage = () => {
  const values = new Map<string, unknown>();
  return {
    get: (key: string) => values.get(key),
    put: (key: string, value: unknown) => values.set(key, structuredClone(value)),
    delete: (key: string) => values.delete(key),
  } as unknown as SyncKvStorage;
};

const RECEIPT: Receipt = { call: 'create', periodStartMs: 0, countedAtMs: 0 };

/** A change with its claim, and what becomes of it if no other change with the claim is committed first. */
const change = fc.record({
  claim: fc.constantFrom(null, 'order-1', 'order-2'),
  isByKey: fc.boolean(),
  isRejected: fc.boolean(),
  isSeenInFeed: fc.boolean(),
  hasDied: fc.boolean(),
});

test('committed changes stay counted once and the others are refunded, in any order and across restarts', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 8 }), fc.infiniteStream(fc.nat()), (changes, picks) => {
      const kv = newStorage();
      const waiting = changes.map((each, i) => ({ ...each, token: `token-${i}` }));
      const underWay: typeof waiting = [];
      const claimed = new Set<string | null>();
      let [counted, committed] = [0, 0];

      const takeOne = (list: typeof waiting) => list.splice(picks.next().value! % list.length, 1);
      const announce = (announced: AnnouncedChanges) => {
        for (const next of takeOne(waiting)) {
          const { token, claim, isByKey } = next;
          const shared = claim === null ? null : announced.receiptOf(claim);
          if (isByKey && !shared) counted++;
          announced.add({ token, ref: token, claim, receipt: isByKey ? (shared ?? RECEIPT) : null });
          underWay.push(next);
        }
      };
      const finish = (announced: AnnouncedChanges) => {
        for (const { token, claim, isByKey, isRejected, isSeenInFeed, hasDied } of takeOne(underWay)) {
          if (isRejected || claimed.has(claim)) {
            counted -= announced.remove((each) => each.token === token).length;
            continue;
          }
          if (claim !== null) claimed.add(claim);
          if (isByKey) committed++;
          if (isSeenInFeed || hasDied) announced.dropReceipts(({ ref }) => ref === token);
          if (!hasDied) announced.settle(token);
        }
      };

      while (waiting.length + underWay.length > 0) {
        const isNew = waiting.length > 0 && (underWay.length === 0 || picks.next().value! % 2 === 0);
        // Opened again for each step, as after a restart.
        (isNew ? announce : finish)(openAnnounced(kv));
      }
      const left = openAnnounced(kv);
      counted -= left.remove(() => true).length;
      expect(counted).toBe(committed);
      expect(openAnnounced(kv).timesMs()).toEqual([]);
    }),
  );
});
