import { expect, test } from 'vitest';
import { type Json, signUp } from '../support/client.ts';
import { countRowsWritten } from '../support/d1-queries.ts';
import { accountsD1 } from '../support/databases.ts';
import { sellerWithLicense } from '../support/worlds.ts';
import { importAs, toLines } from '../transfer/transfer.ts';

const MAX_BYTES = 65_536;
/** An entry has it twice, with who made the change. */
const LONG = 'x'.repeat(3_900);

const storedHistory = async ({ id }: Json) => {
  const { results } = await accountsD1
    .prepare(
      `SELECT seq, octet_length("before") + octet_length("after") AS bytes FROM license_changes
       WHERE license_id = ? ORDER BY seq`,
    )
    .bind(id)
    .all<{ seq: number; bytes: number }>();
  return { seqs: results.map(({ seq }) => seq), bytes: results.reduce((sum, row) => sum + row.bytes, 0) };
};

test('a license keeps at most 64 KiB of its history, and the newest change always', async () => {
  const { ada, license } = await sellerWithLicense();
  for (let i = 1; i <= 12; i++)
    await ada.asSession('PATCH', `/api/v1/licenses/${license.id}`, { metadata: { note: `${i}${LONG}` } });
  const { seqs, bytes } = await storedHistory(license);
  expect(seqs).toEqual([5, 6, 7, 8, 9, 10, 11, 12]);
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
});

test('a license that is imported again and again keeps no more of its history', async () => {
  const ada = await signUp();
  const update = (i: number) =>
    importAs(
      ada,
      toLines([{ license_key: 'AGAIN-AND-AGAIN', metadata: { note: `${i}${LONG}` } }]),
      '?on_conflict=update',
    );
  for (let i = 1; i <= 12; i++) expect((await update(i)).totals.failed).toBe(0);
  const { body } = await ada.asSession('GET', '/api/v1/licenses');
  const { seqs, bytes } = await storedHistory(body.data[0]);
  expect(seqs.at(-1)).toBe(11);
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
});

test('an import that changes nothing that is searched doesn’t write the search index again', async () => {
  const { ada, license } = await sellerWithLicense({ customer_name: 'Ada' });
  const { license_key } = license;
  const update = (fields: Json) =>
    countRowsWritten(() => importAs(ada, toLines([{ license_key, ...fields }]), '?on_conflict=update'));
  await update({ metadata: { note: 'x' }, updates_until: '2099-01-01' });
  expect((await update({ updates_until: '2099-01-02' }))['update "licenses"']).toBe(3);
  // Two rows of the search index.
  expect((await update({ metadata: { note: 'y' } }))['update "licenses"']).toBe(5);
  // These, an entry in the index by product, and the account’s number of bytes.
  expect((await update({ product: 'Sextant' }))['update "licenses"']).toBe(7);
  const { body } = await ada.asSession('GET', '/api/v1/licenses?q=sextant');
  expect(body.data).toMatchObject([{ id: license.id, metadata: { note: 'y' } }]);
});
