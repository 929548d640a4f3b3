import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AnnouncedChanges, openAnnounced } from '../../src/gate/home/announced.ts';

/** A fake of a Durable Object's key-value storage. */
const newStorage = () => {
  const values = new Map<string, unknown>();
  return {
    get: (key: string) => values.get(key),
    put: (key: string, value: unknown) => values.set(key, structuredClone(value)),
    delete: (key: string) => values.delete(key),
  } as unknown as SyncKvStorage;
};

const PERIOD_MS = 0;

/** A change with its claim, and what becomes of it if no other change with the claim is committed first. */
const change = fc.record({
  claim: fc.constantFrom(null, 'order-1', 'order-2'),
  isByKey: fc.boolean(),
  isRejected: fc.boolean(),
  isSeenInFeed: fc.boolean(),
  hasDied: fc.boolean(),
});

test('committed changes are counted once and the others never, in any order and across restarts', () => {
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
          const key = claim ?? token;
          const reserve = () =>
            announced.reservation(key) ?? { key, call: 'create' as const, periodStartMs: PERIOD_MS, atMs: 0 };
          announced.add({ token, atMs: 0, ref: token, reservation: isByKey ? reserve() : null });
          underWay.push(next);
        }
      };
      const finish = (announced: AnnouncedChanges) => {
        for (const { token, claim, isByKey, isRejected, isSeenInFeed, hasDied } of takeOne(underWay)) {
          if (isRejected || claimed.has(claim)) {
            announced.abandon(token);
            continue;
          }
          if (claim !== null) claimed.add(claim);
          if (isByKey) committed++;
          if (isSeenInFeed || hasDied) counted += announced.takeApplied(new Set([token])).length;
          if (!hasDied) counted += announced.settle(token).length;
        }
      };

      while (waiting.length + underWay.length > 0) {
        const isNew = waiting.length > 0 && (underWay.length === 0 || picks.next().value! % 2 === 0);
        // Opened again for each step, as after a restart.
        const announced = openAnnounced(kv);
        (isNew ? announce : finish)(announced);
        announced.write();
        const open = underWay.filter(({ isByKey }) => isByKey).map(({ claim, token }) => claim ?? token);
        expect(announced.reserved(PERIOD_MS)).toBeLessThanOrEqual(new Set(open).size);
      }
      expect(counted).toBe(committed);
      const left = openAnnounced(kv);
      left.dropUncommitted(Infinity);
      left.write();
      expect(openAnnounced(kv).isEmpty()).toBe(true);
    }),
  );
});
