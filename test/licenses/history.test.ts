import { env } from 'cloudflare:workers';
import { beforeEach, expect, test, vi } from 'vitest';
import type { LicenseSnapshot } from '../../src/db/schema.ts';
import { toHistoryEntry } from '../../src/licenses/history.ts';
import { type Customer, type Json, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';

const NOON = Date.parse('2027-03-10T12:00:00.000Z');

beforeEach(() => {
  useFakeClock(NOON);
});

const pathOf = (license: Json) => `/api/v1/licenses/${license.id}`;

const historyOf = async (ada: Customer, license: Json, query = ''): Promise<Json> => {
  const { status, body } = await ada.asSession('GET', `${pathOf(license)}/history${query}`);
  expect(status).toBe(200);
  return body;
};
const actions = ({ data }: Json): string[] => data.map(({ action }: Json) => action);

test('a history tells all that became of a license, newest first, and its creation last', async () => {
  const ada = await signUp();
  const license = await ada.createLicense({ product: 'Orrery', metadata: { seats: 1, trial: true } });
  const after = async (verb: string, sent?: object) => {
    vi.advanceTimersByTime(1_000);
    const method = verb === '' ? 'PATCH' : 'POST';
    const { status } = await ada.asSession(method, `${pathOf(license)}${verb}`, sent);
    expect([verb, status]).toEqual([verb, 200]);
  };
  await after('', { product: 'Astrolabe', customer_name: 'Ada', metadata: { seats: 2 } });
  await after('/suspend');
  await after('/reinstate');
  await after('/renew', { expires_at: '2027-12-31' });
  await after('', { expires_at: null });
  await after('', { customer_email: 'bob@example.com', expires_at: '2028-01-01' });
  await after('/revoke');

  const at = (second: number) => new Date(NOON + second * 1_000).toISOString();
  const status = (from: string, to: string) => [{ field: 'status', from, to }];
  expect(await historyOf(ada, license)).toEqual({
    data: [
      { action: 'revoked', at: at(7), changes: status('active', 'revoked') },
      {
        action: 'changed',
        at: at(6),
        changes: [
          { field: 'expires_at', from: null, to: '2028-01-01' },
          { field: 'customer_email', from: ada.email, to: 'bob@example.com' },
        ],
      },
      { action: 'renewed', at: at(5), changes: [{ field: 'expires_at', from: '2027-12-31', to: null }] },
      { action: 'renewed', at: at(4), changes: [{ field: 'expires_at', from: null, to: '2027-12-31' }] },
      { action: 'reinstated', at: at(3), changes: status('suspended', 'active') },
      { action: 'suspended', at: at(2), changes: status('active', 'suspended') },
      {
        action: 'changed',
        at: at(1),
        changes: [
          { field: 'product', from: 'Orrery', to: 'Astrolabe' },
          { field: 'customer_name', from: null, to: 'Ada' },
          { field: 'metadata', from: { seats: 1, trial: true }, to: { seats: 2 } },
        ],
      },
      { action: 'created', at: at(0), changes: [] },
    ],
    next_cursor: null,
  });
});

test('what changes nothing leaves no trace: refused, repeated, verified or run out', async () => {
  const ada = await signUp();
  const fields = { product: 'Orrery', expires_at: '2027-03-10', metadata: { seats: 1 } };
  const license = await ada.createLicense(fields);
  const path = pathOf(license);
  for (const sent of [{}, fields, { customer_name: null }]) {
    expect((await ada.asSession('PATCH', path, sent)).status).toBe(200);
  }
  expect((await ada.asSession('POST', `${path}/renew`, { expires_at: '2027-03-10' })).status).toBe(200);
  expect((await ada.asSession('POST', `${path}/reinstate`)).status).toBe(409);
  expect((await ada.asSession('PATCH', path, { product: 7 })).status).toBe(400);
  vi.setSystemTime('2027-03-11T00:00:00.000Z');
  expect((await ada.verify(license.license_key)).body.status).toBe('expired');
  const created = { action: 'created', at: '2027-03-10T12:00:00.000Z', changes: [] };
  expect(await historyOf(ada, license)).toEqual({ data: [created], next_cursor: null });
});

test('a history comes a page at a time, each entry once, whatever is added meanwhile', async () => {
  const ada = await signUp();
  const [license, other] = [await ada.createLicense(), await ada.createLicense()];
  const rename = (one: Json, to: string) => ada.asSession('PATCH', pathOf(one), { product: to });
  for (const product of ['one', 'two', 'three']) {
    await rename(license, product);
    await rename(other, `other ${product}`);
  }
  const pages = async (limit: number) => {
    const found: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await historyOf(ada, license, `?limit=${limit}${cursor && `&cursor=${cursor}`}`);
      found.push(page.data.map(({ action, changes }: Json) => changes[0]?.to ?? action));
      cursor = page.next_cursor;
    }
    return found;
  };
  expect(await pages(1)).toEqual([['three'], ['two'], ['one'], ['created']]);
  expect(await pages(2)).toEqual([
    ['three', 'two'],
    ['one', 'created'],
  ]);
  // A page of changes alone: that the license was created is still to come.
  expect(await pages(3)).toEqual([['three', 'two', 'one'], ['created']]);
  expect(await pages(4)).toEqual([['three', 'two', 'one', 'created']]);

  const first = await historyOf(ada, license, '?limit=2');
  await rename(license, 'late');
  const second = await historyOf(ada, license, `?limit=2&cursor=${first.next_cursor}`);
  expect(actions(second)).toEqual(['changed', 'created']);
});

test('a history is its account’s alone, and no key that only verifies may read it', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  const license = await ada.createLicense();
  await ada.asSession('POST', `${pathOf(license)}/suspend`);
  const path = `${pathOf(license)}/history`;
  expect(actions((await ada.asKey('GET', path)).body)).toEqual(['suspended', 'created']);
  for (const theirs of [await bob.asKey('GET', path), await bob.asSession('GET', `${path}?cursor=2`)]) {
    expect([theirs.status, theirs.body.error.code]).toEqual([404, 'license_not_found']);
  }
  const { body: shipped } = await ada.asSession('POST', '/api/create-api-key', { scope: 'verify' });
  const refused = await ada.asSession('GET', path, undefined, { 'x-api-key': shipped.api_key });
  expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope']);
});

test('renewals at once are each in the history, one upon the other', async () => {
  const ada = await signUp();
  const license = await ada.createLicense({ expires_at: '2027-06-01' });
  const renew = () => ada.asSession('POST', `${pathOf(license)}/renew`, { duration_days: 10 });
  await Promise.all([renew(), renew(), renew()]);
  const { data } = await historyOf(ada, license);
  expect(data.map(({ action, changes }: Json) => [action, changes[0]?.from, changes[0]?.to])).toEqual([
    ['renewed', '2027-06-21', '2027-07-01'],
    ['renewed', '2027-06-11', '2027-06-21'],
    ['renewed', '2027-06-01', '2027-06-11'],
    ['created', undefined, undefined],
  ]);
});

test('a change that somebody makes in the database itself is in the history too', async () => {
  const ada = await signUp();
  const license = await ada.createLicense();
  await env.DB.prepare("UPDATE licenses SET status = 'suspended', updated_at = ? WHERE id = ?")
    .bind(NOON + 5_000, license.id)
    .run();
  const [entry] = (await historyOf(ada, license)).data;
  expect([entry.action, entry.at]).toEqual(['suspended', '2027-03-10T12:00:05.000Z']);
});

test('any text that a license can hold is in its history as it was', async () => {
  const ada = await signUp();
  const odd = `NUL \0, "quotes" \\ 'ticks' 日本語 😀\u2028\u202e`;
  const metadata = { [odd]: odd, '': '', n: 1e300, small: 5e-324, big: 2 ** 53, no: false };
  const license = await ada.createLicense({ product: odd, metadata });
  await ada.asSession('PATCH', pathOf(license), { product: 'plain', metadata: {} });
  await ada.asSession('PATCH', pathOf(license), { product: odd, metadata });
  const [back, away] = (await historyOf(ada, license)).data;
  expect(back.changes).toEqual([
    { field: 'product', from: 'plain', to: odd },
    { field: 'metadata', from: {}, to: metadata },
  ]);
  expect(away.changes.map(({ from }: Json) => from)).toEqual([odd, metadata]);
});

test('an entry is named by what differs', () => {
  const license: LicenseSnapshot = {
    status: 'active',
    expires_at: null,
    product: 'Orrery',
    customer_email: 'ada@example.com',
    customer_name: null,
    metadata: { seats: 1 },
  };
  const told = (to: Partial<LicenseSnapshot>, from: Partial<LicenseSnapshot> = {}) => {
    const before = { ...license, ...from };
    const { action, changes } = toHistoryEntry({ at: 0, before, after: { ...before, ...to } });
    return [action, ...changes.map(({ field }) => field)];
  };
  expect(told({ status: 'suspended' })).toEqual(['suspended', 'status']);
  expect(told({ status: 'revoked' }, { status: 'suspended' })).toEqual(['revoked', 'status']);
  expect(told({ status: 'active' }, { status: 'suspended' })).toEqual(['reinstated', 'status']);
  expect(told({ expires_at: '2027-12-31' })).toEqual(['renewed', 'expires_at']);
  expect(told({ expires_at: null }, { expires_at: '2027-12-31' })).toEqual(['renewed', 'expires_at']);
  expect(told({ product: null })).toEqual(['changed', 'product']);
  expect(told({ metadata: { seats: 1, trial: true } })).toEqual(['changed', 'metadata']);
  // With anything else a new last day is no mere renewal, and a new status names the whole.
  expect(told({ product: null, expires_at: '2027-12-31' })).toEqual(['changed', 'expires_at', 'product']);
  expect(told({ status: 'suspended', expires_at: '2027-12-31', customer_name: 'Ada' })).toEqual([
    'suspended',
    'status',
    'expires_at',
    'customer_name',
  ]);
});
