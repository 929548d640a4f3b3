import { expect, test } from 'vitest';
import { call, outcomeOf } from '../support/client.ts';
import { recordStatements } from '../support/d1-queries.ts';
import { openShop, paid } from './shop.ts';

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
