import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StoreProviderName } from '../../src/shared/rules/stores.ts';
import { PROVIDERS } from '../../src/stores/provider/providers.ts';
import { openFacts } from './decided.ts';
import { listAll, openApi } from './module.ts';
import { decide, history } from './worlds/subscription.ts';
import { expectedOf, isOver, possible, SOLD_AT, type StoreHistory } from './worlds/world.ts';
import { WORLDS } from './worlds/worlds.ts';

// The histories of a subscription at each provider: what is sent comes in any order, some of it often, some of it never. What a
// purchase gives is the same in the end, and what the history says.

const RUNS = 1_500;

const expectOutcome = async (
  name: StoreProviderName,
  sent: StoreHistory,
  order: number[],
  counts: number[],
) => {
  const provider = PROVIDERS[name];
  // What never came is found by the API, where there is one.
  const copies = provider.api ? counts : counts.map((count) => Math.max(1, count));
  const past = { ...sent, ...(sent.refund === 'second' && !sent.isRenewed && { refund: 'none' as const }) };
  const world = WORLDS[name].world(past);
  const { facts, take } = openFacts();
  const { access } = openApi(world.key, world.answers);
  const notices = world.notices.flatMap((notice, i) =>
    Array.from({ length: copies[i % copies.length]! }, (_, copy) => ({
      notice,
      place: order[(i * 3 + copy) % order.length]!,
    })),
  );
  for (const { notice } of notices.toSorted((a, b) => a.place - b.place)) {
    const text = typeof notice.body === 'string' ? notice.body : JSON.stringify(notice.body);
    const reading = provider.read({ body: text, topic: notice.topic ?? null });
    if (reading.kind === 'facts') reading.facts.forEach(take);
    (await notice.told?.())?.forEach(take);
  }
  const isWhole = copies.every((count) => count > 0) && name !== 'gumroad';
  if (!isWhole) (await listAll(provider, access, Date.parse(SOLD_AT))).facts.forEach(take);
  const decided = decide(facts.values(), order[0]! * 1_000);
  const { isPastDue, ...wanted } = expectedOf(possible(past, world));
  const [slot] = decided.slots;
  expect({ ...decided, slots: decided.slots.length }).toMatchObject({
    reason: null,
    slots: 1,
    isTest: false,
  });
  expect(slot).toMatchObject({ count: 1, wanted });
  if (!isOver(possible(past, world)) && wanted.status === 'active' && past.refund !== 'second')
    expect(decided.status).toBe(isPastDue ? 'past_due' : 'fulfilled');
};

test.for(Object.keys(WORLDS) as StoreProviderName[])(
  'whatever the order, the copies, and the losses, the licenses of %s end alike',
  async (name) => {
    const order = fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 40, maxLength: 40 });
    const copies = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 12, maxLength: 12 });
    const property = fc.asyncProperty(history, order, copies, (past, places, counts) =>
      expectOutcome(name, past, places, counts),
    );
    await fc.assert(property, { seed: 20_270_110, numRuns: RUNS });
  },
);
