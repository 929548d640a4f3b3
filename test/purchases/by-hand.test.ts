import { expect, test } from 'vitest';
import { openShop, paid } from '../stores/shop.ts';
import { outcomeOf } from '../support/client.ts';
import { importAs, toLines } from '../transfer/transfer.ts';

/** A purchase whose license a dispute has suspended, and the seller has reinstated. */
const openDisputed = async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid('1'));
  await shop.notify({ type: 'disputed', order: '1' });
  const [{ id, license_key: key }] = (await shop.licenses()) as [{ id: string; license_key: string }];
  const status = async () => (await shop.licenses()).map((license) => license.status);
  expect(await status()).toEqual(['suspended']);
  const set = async (transition: string) =>
    expect(outcomeOf(await shop.ada.asSession('POST', `/api/v1/licenses/${id}/${transition}`))).toBe(
      '200 ok',
    );
  await set('reinstate');
  return { ...shop, key, set, status };
};

test('a license that the seller has suspended by hand stays so, also if a dispute had suspended it before', async () => {
  const { notify, set, status } = await openDisputed();
  await set('suspend');
  await notify({ type: 'dispute_won', order: '1' });
  expect(await status()).toEqual(['suspended']);
});

test('a license that an import has suspended stays so when a dispute is won', async () => {
  const { ada, key, notify, status } = await openDisputed();
  const lines = toLines([{ license_key: key, status: 'suspended' }]);
  const { answers } = await importAs(ada, lines, '?on_conflict=update');
  expect(answers).toMatchObject([{ result: 'updated' }]);
  expect(await status()).toEqual(['suspended']);
  await notify({ type: 'dispute_won', order: '1' });
  expect(await status()).toEqual(['suspended']);
});
