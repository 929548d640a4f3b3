import { env } from 'cloudflare:workers';
import { beforeEach, expect, test } from 'vitest';
import { foldText } from '../../src/shared/rules/search-text.ts';
import { type Customer, signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { allPages, insertLicenses, list, products } from '../support/licenses.ts';

beforeEach(() => {
  useFakeClock('2027-03-01T12:00:00.000Z');
});

/** With its own key, because a generated one has letters and digits that a test may look for. */
const seller = async () => {
  const ada = await signUp();
  let count = 0;
  const create = (product: string, fields: object = {}) =>
    ada.createLicense({
      license_key: `KEY-____-${++count}`,
      customer_email: 'c@example.com',
      product,
      ...fields,
    });
  const find = async (q: string, query: Record<string, string> = {}) =>
    products(await list(ada, { q, ...query })).toSorted();
  return { ada, create, find };
};

test('a search finds accents without them and the other way around, in any case', async () => {
  const { create, find } = await seller();
  await create('1', { customer_name: 'José Müller' });
  await create('2', { customer_name: 'Jose Muller' });
  await create('3', { customer_company: 'Łódź Ærø Straße' });
  await create('4', { customer_name: 'Nguye\u0302\u0303n Ιωάννης Алёна' });
  await create('5', { customer_name: '日本語 が' });
  for (const q of ['jose', 'JOSÉ', 'josé', 'mul', 'MÜLL', 'mu\u0308ller', 'jo', 'JÓ', 'jose müller'])
    expect([q, await find(q)]).toEqual([q, ['1', '2']]);
  for (const q of ['lodz', 'łódź', 'aero', 'ÆRØ', 'strasse', 'straße', 'lo', 'ŁÓ'])
    expect([q, await find(q)]).toEqual([q, ['3']]);
  for (const q of ['nguyen', 'NGUYỄN', 'ιωαννης', 'ален']) expect([q, await find(q)]).toEqual([q, ['4']]);
  expect([await find('日本語'), await find('か')]).toEqual([['5'], []]);
});

test('a search finds all of its words, each in any field, whatever is between them', async () => {
  const { ada, create, find } = await seller();
  await create('yearly', { customer_name: 'Grace Hopper', customer_email: 'grace@navy.example' });
  await create('yearly-pro', { customer_name: 'Ada  Lovelace' });
  await create('monthly', { customer_name: 'Jo Grace Li' });
  for (const q of ['yearly grace', 'grace yearly', 'GRACE   year', ' hopper\t\u00a0yearly ', 'navy hop yea'])
    expect([q, await find(q)]).toEqual([q, ['yearly']]);
  expect(await find('grace')).toEqual(['monthly', 'yearly']);
  expect(await find('ada lovelace')).toEqual(['yearly-pro']);
  expect(await find('grace ada')).toEqual([]);
  // Next to a longer word, one or two letters are the beginning of a word.
  expect(await find('grace h')).toEqual(['yearly']);
  expect(await find('grace ho')).toEqual(['yearly']);
  expect(await find('grace op')).toEqual([]);
  expect(await find('race hop')).toEqual(['yearly']);
  expect(await find('jo grace')).toEqual(['monthly']);
  for (const sort of ['created_at', '-customer_email'])
    expect([sort, await find('yearly grace', { sort })]).toEqual([sort, ['yearly']]);
  expect(await find('yearly grace', { status: 'suspended' })).toEqual([]);
  expect(await allPages(ada, { q: 'yea rly' })).toEqual([['yearly-pro', 'yearly']]);
});

test('a search finds values of the metadata, and no longer those that were replaced', async () => {
  const { ada, create, find } = await seller();
  const { id } = await create('1', { metadata: { order: 'ORD-70451', note: 'a "quoted" café' } });
  await create('2', { metadata: { order: 70_452, paid: true, long: `ORD-70453 ${'x'.repeat(64)}` } });
  expect(await find('ord-70451')).toEqual(['1']);
  expect(await find('7045')).toEqual(['1', '2']);
  expect(await find('70')).toEqual(['2']);
  for (const q of ['"quoted"', 'CAFE', 'quoted ord']) expect([q, await find(q)]).toEqual([q, ['1']]);
  for (const q of ['order', 'true', '70453', 'note']) expect([q, await find(q)]).toEqual([q, []]);
  for (const sort of ['created_at', 'expires_at'])
    expect([sort, await find('ord-70451', { sort })]).toEqual([sort, ['1']]);
  await ada.asSession('PATCH', `/api/v1/licenses/${id}`, { metadata: { order: 'ORD-80000', note: null } });
  expect([await find('ord-70451'), await find('cafe'), await find('ord-8')]).toEqual([[], [], ['1']]);
});

test('the index folds each letter as a search does', async () => {
  const { ada, create } = await seller();
  const letters = Array.from({ length: 0x30_00 - 0x80 }, (_, i) => String.fromCodePoint(0x80 + i)).filter(
    (letter) => foldText(letter) !== letter.toLowerCase() && !/\p{M}/u.test(letter),
  );
  expect(letters.length).toBeGreaterThan(700);
  for (let i = 0; i < letters.length; i += 150)
    await create('x', { customer_name: letters.slice(i, i + 150).join('') });
  const { results } = await accountsD1
    .prepare(
      `SELECT customer_name AS name, words FROM licenses JOIN license_words USING (seq) WHERE account_id = ?`,
    )
    .bind(ada.accountId)
    .all<{ name: string; words: string }>();
  for (const { name, words } of results) expect(words.split('\u0002\u0002')[3]).toBe(foldText(name));
  // The migration lists every letter that a license may have.
  for (let point = 0x30_00; point <= 0x10_ffff; point++) {
    const letter = String.fromCodePoint(point);
    if (foldText(letter) !== letter.toLowerCase())
      throw new Error(`U+${point.toString(16)} is not in the view.`);
  }
});

/** Indexes an account's licenses as the release before did: with accents, and without metadata. */
const indexAsBefore = ({ accountId }: Customer) =>
  accountsD1.batch(
    [
      `DELETE FROM license_trigrams WHERE rowid IN
        (SELECT index_row FROM license_words JOIN licenses USING (seq) WHERE account_id = ?)`,
      `INSERT INTO license_trigrams (rowid, words)
        SELECT index_row, char(2, 2) || license_key || char(2, 2) || customer_email || char(2, 2)
          || coalesce(customer_name, '') || char(2, 2) || char(2, 2) || coalesce(product, '')
        FROM license_words JOIN licenses USING (seq) WHERE account_id = ?`,
    ].map((statement) => accountsD1.prepare(statement).bind(accountId)),
  );

test('a license that an earlier release has indexed is found as before, and after the migration in all ways', async () => {
  const { ada, create, find } = await seller();
  await create('1', { customer_name: 'José Müller', metadata: { order: 'ORD-70451' } });
  await create('2', { customer_name: 'Grace' });
  await indexAsBefore(ada);
  for (const q of ['josé', 'JOSÉ MÜLLER', 'mül', 'jos']) expect([q, await find(q)]).toEqual([q, ['1']]);
  expect([await find('ord-70451'), await find('grace')]).toEqual([[], ['2']]);
  const migration = env.MIGRATIONS.find(({ name }) => name.includes('search_words'));
  const reindexing = migration?.queries.filter((query) => /^(?:--.*\n)*(DELETE|INSERT)/.test(query)) ?? [];
  expect(reindexing).toHaveLength(2);
  await accountsD1.batch(reindexing.map((query) => accountsD1.prepare(query)));
  for (const q of ['josé', 'jose', 'muller', 'ord-70451']) expect([q, await find(q)]).toEqual([q, ['1']]);
  expect(await find('grace')).toEqual(['2']);
});

test('a license with accents that isn’t the one searched for costs a short page, and nothing is missed', async () => {
  const ada = await signUp();
  await ada.createLicense({ product: 'aaab' });
  await insertLicenses(ada, { count: 300, product: 'aaa aab é' });
  const found = await allPages(ada, { q: 'aaab' });
  expect(found.flat()).toEqual(['aaab']);
});
