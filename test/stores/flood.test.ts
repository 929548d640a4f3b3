import { expect, test } from 'vitest';
import { call, outcomeOf, tallyOf } from '../support/client.ts';
import { recordStatements } from '../support/d1-queries.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { notify, openShop, paid } from './shop.ts';

/** A busy machine needs a minute for all of them, so each part has the time limit of a test. */
const PARTS = Array.from({ length: 10 }, (_, part) => part);
const FORGED = 1_000;
const AT_ONCE = 125;

test.for(PARTS)('a flood of 10,000 forged bodies writes nothing (part %i of 10)', async (part) => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  const outcomes: string[] = [];
  const forge = async (i: number) => {
    const answer = await call('POST', `/hooks/${shop.storeId}`, {
      body: JSON.stringify(paid(`forged-${i}`)),
      headers: {
        'cf-connecting-ip': `10.77.${part}.${i % AT_ONCE}`,
        'webhook-id': `msg_${i}`,
        'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
        'webhook-signature': `v1,${btoa(String(i).padStart(32, '0'))}`,
      },
    });
    outcomes.push(outcomeOf(answer));
  };
  const { statements } = await recordStatements(async () => {
    for (let from = 0; from < FORGED; from += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => forge(from + i)));
  });
  expect(statements.filter((text) => !/^\s*select\b/i.test(text))).toEqual([]);
  const refused = outcomes.filter((outcome) =>
    /^(401 invalid_signature|429 rate_limit_exceeded)$/.test(outcome),
  );
  expect(refused).toHaveLength(FORGED);
  // The shop itself is taken meanwhile, from wherever it sends.
  await shop.notify(paid('1'));
  expect(await shop.licenses()).toHaveLength(1);
  expect(await shop.purchases()).toHaveLength(1);
});

test('a flood of invented stores is slowed, and delays no store that sends from the same address', async () => {
  useFakeClock(Date.now());
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  // As a provider's own address, which every seller can let send to whatever URL.
  const from = { 'cf-connecting-ip': '10.78.0.1' };
  const invent = (i: number) =>
    call('POST', `/hooks/sto_${String(i).padStart(20, '0')}`, { body: '{}', headers: from });
  const flood = Array.from({ length: 200 }, (_, i) => invent(i));
  const own = await notify(shop.storeId, paid('1'), undefined, from);
  expect(outcomeOf(own)).toBe('200 ok');
  const tally = tallyOf(await Promise.all(flood));
  expect(tally['429 rate_limit_exceeded']).toBeGreaterThan(50);
  expect(tally['404 not_found']).toBe(200 - tally['429 rate_limit_exceeded']!);
  expect(await shop.licenses()).toHaveLength(1);
});
