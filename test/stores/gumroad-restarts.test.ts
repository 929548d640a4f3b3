import { expect, test } from 'vitest';
import { decidePurchase } from '../../src/purchases/rules/decide.ts';
import type { StoreFact } from '../../src/purchases/rules/facts.ts';
import { gumroad } from '../../src/stores/provider/gumroad.ts';
import { type GumroadSale, sale } from './bodies/gumroad.ts';
import { openFacts, SUBSCRIPTION } from './decided.ts';
import { openApi } from './module.ts';

// A membership of Gumroad's that has ended can begin anew, with a charge. What Gumroad tells is always what it is now.

const FIRST: GumroadSale = { id: 's1', subscription: 'm1', createdAt: '2027-01-10T12:00:00Z' };
const AGAIN: GumroadSale = { ...FIRST, id: 's2', createdAt: '2027-03-20T12:00:00Z', isRecurringCharge: true };
const endedAt = (at: string) => `ended-at-${Date.parse(at)}-sale/s1`;

const ask = (of: GumroadSale, what = `sale/${of.id}`) =>
  gumroad.api!.ask!(openApi('token', { '/v2/sales/': { success: true, sale: sale(of) } }).access, what);

/** Takes each fact at the time at which it came, as the service does, and returns the state and the grace. */
const stateOf = (sent: [at: string, facts: StoreFact[]][]) => {
  const { facts, take } = openFacts();
  const takenAt = new Map<StoreFact, number>();
  for (const [at, told] of sent)
    for (const fact of told) {
      take(fact);
      takenAt.set(fact, Date.parse(at));
    }
  const { status, slots } = decidePurchase({
    facts: [...facts.values()].map((fact) => ({ fact, takenAtMs: takenAt.get(fact) ?? 0 })),
    offers: new Map([['orrery', SUBSCRIPTION]]),
    earlier: new Map(),
    assigned: null,
    acceptsTest: false,
  });
  return [status, slots[0]?.wanted.graceDays];
};

test('a membership that begins anew lives, and can end again', async () => {
  const first = await ask(FIRST);
  const over = await ask({ ...FIRST, isEnded: true }, endedAt('2027-03-10T12:00:00Z'));
  const again = await ask(AGAIN);
  const overAgain = await ask({ ...FIRST, isEnded: true }, endedAt('2027-05-20T12:00:00Z'));
  const at = '2027-06-01T12:00:00Z';
  expect(stateOf([[at, [...first, ...over]]])).toEqual(['ended', 0]);
  expect(stateOf([[at, [...first, ...over, ...again]]])).toEqual(['fulfilled', 7]);
  expect(stateOf([[at, [...again, ...over, ...first]]])).toEqual(['fulfilled', 7]);
  expect(stateOf([[at, [...first, ...overAgain, ...again, ...over]]])).toEqual(['ended', 0]);
});

test('an end of which no time was told or stored counts from when it came', async () => {
  const over = await ask({ ...FIRST, isEnded: true });
  expect(over.at(-1)).toEqual({ kind: 'ended', about: 'subscription/m1' });
  const again = await ask(AGAIN);
  expect(
    stateOf([
      ['2027-03-10T12:00:05Z', over],
      ['2027-03-20T12:00:05Z', again],
    ]),
  ).toEqual(['fulfilled', 7]);
  expect(
    stateOf([
      ['2027-05-20T12:00:05Z', over],
      ['2027-03-20T12:00:05Z', again],
    ]),
  ).toEqual(['ended', 0]);
});
