import { beforeEach, expect, test, vi } from 'vitest';
import { type Customer, type Json, signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { sellerWithLicense } from '../support/worlds.ts';

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

test('the history lists every change of a license, newest first, and ends with its creation', async () => {
  const { ada, license } = await sellerWithLicense({
    product: 'Orrery',
    metadata: { seats: 1, trial: true },
  });
  const change = async (action: string, body?: object) => {
    vi.advanceTimersByTime(1_000);
    const method = action === '' ? 'PATCH' : 'POST';
    const { status } = await ada.asSession(method, `${pathOf(license)}${action}`, body);
    expect([action, status]).toEqual([action, 200]);
  };
  await change('', { product: 'Astrolabe', customer_name: 'Ada', metadata: { seats: 2, trial: null } });
  await change('/suspend');
  await change('/reinstate');
  await change('/renew', { expires_at: '2027-12-31' });
  await change('', { expires_at: null });
  await change('', { customer_email: 'bob@example.com', expires_at: '2028-01-01' });
  await change('/revoke');

  const at = (second: number) => new Date(NOON + second * 1_000).toISOString();
  const by = { kind: 'session', id: expect.any(String) };
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
    ].map((entry) => ({
      ...entry,
      by: entry.action === 'created' ? null : by,
      reason: null,
      import_id: null,
      imported_at: null,
    })),
    next_cursor: null,
  });
});

test('calls that change nothing add no history entry: no-op patches, refused calls, verifies, expiry', async () => {
  const ada = await signUp();
  const fields = { product: 'Orrery', expires_at: '2027-03-10', metadata: { seats: 1 } };
  const license = await ada.createLicense(fields);
  const path = pathOf(license);
  for (const noOp of [{}, fields, { customer_name: null }]) {
    expect((await ada.asSession('PATCH', path, noOp)).status).toBe(200);
  }
  expect((await ada.asSession('POST', `${path}/renew`, { expires_at: '2027-03-10' })).status).toBe(200);
  expect((await ada.asSession('POST', `${path}/reinstate`)).status).toBe(409);
  expect((await ada.asSession('PATCH', path, { product: 7 })).status).toBe(400);
  vi.setSystemTime('2027-03-11T00:00:00.000Z');
  expect((await ada.verify(license.license_key)).body.status).toBe('expired');
  const created = {
    action: 'created',
    at: '2027-03-10T12:00:00.000Z',
    changes: [],
    by: null,
    reason: null,
    import_id: null,
    imported_at: null,
  };
  expect(await historyOf(ada, license)).toEqual({ data: [created], next_cursor: null });
});

test('the history tells who made a change: the session, or the API key', async () => {
  const { ada, license } = await sellerWithLicense();
  await ada.asSession('POST', `${pathOf(license)}/suspend`, { reason: 'chargeback' });
  await ada.asKey('POST', `${pathOf(license)}/reinstate`);
  await accountsD1
    .prepare(
      `UPDATE license_changes SET "after" = json_remove("after", '$.by') WHERE license_id = ? AND seq = 1`,
    )
    .bind(license.id)
    .run();
  const { data } = await historyOf(ada, license);
  const { data: keys } = (await ada.asSession('GET', '/api/api-keys')).body;
  expect(data.map(({ action, by, reason }: Json) => ({ action, by, reason }))).toEqual([
    { action: 'reinstated', by: { kind: 'api_key', id: keys[0].id }, reason: null },
    // A change of an earlier version, which says nothing of that.
    { action: 'suspended', by: null, reason: 'chargeback' },
    { action: 'created', by: null, reason: null },
  ]);
});

test('history pages show each entry once, even when entries are added between requests', async () => {
  const ada = await signUp();
  const [license, other] = [await ada.createLicense(), await ada.createLicense()];
  const rename = (target: Json, product: string) => ada.asSession('PATCH', pathOf(target), { product });
  for (const product of ['one', 'two', 'three']) {
    await rename(license, product);
    await rename(other, `other ${product}`);
  }
  const allPages = async (limit: number) => {
    const pages: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await historyOf(ada, license, `?limit=${limit}${cursor && `&cursor=${cursor}`}`);
      pages.push(page.data.map(({ action, changes }: Json) => changes[0]?.to ?? action));
      cursor = page.next_cursor;
    }
    return pages;
  };
  expect(await allPages(1)).toEqual([['three'], ['two'], ['one'], ['created']]);
  expect(await allPages(2)).toEqual([
    ['three', 'two'],
    ['one', 'created'],
  ]);
  // The creation is not a stored change, so it gets its own page here.
  expect(await allPages(3)).toEqual([['three', 'two', 'one'], ['created']]);
  expect(await allPages(4)).toEqual([['three', 'two', 'one', 'created']]);

  const first = await historyOf(ada, license, '?limit=2');
  await rename(license, 'late');
  const second = await historyOf(ada, license, `?limit=2&cursor=${first.next_cursor}`);
  expect(actions(second)).toEqual(['changed', 'created']);
});

test('another account gets 404 for a license’s history, and a verify-only API key gets 403', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  const license = await ada.createLicense();
  await ada.asSession('POST', `${pathOf(license)}/suspend`);
  const path = `${pathOf(license)}/history`;
  expect(actions((await ada.asKey('GET', path)).body)).toEqual(['suspended', 'created']);
  for (const foreign of [await bob.asKey('GET', path), await bob.asSession('GET', `${path}?cursor=2`)]) {
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'license_not_found']);
  }
  const { body: verifyKey } = await ada.asSession('POST', '/api/create-api-key', { scope: 'verify' });
  const refused = await ada.asSession('GET', path, undefined, { 'x-api-key': verifyKey.api_key });
  expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope']);
});

test('parallel renewals each get an entry, and each extends the one before it', async () => {
  const { ada, license } = await sellerWithLicense({ expires_at: '2027-06-01' });
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

test('parallel edits of different fields each record exactly what they overwrote', async () => {
  const { ada, license } = await sellerWithLicense({ product: 'Orrery', customer_name: 'Ada' });
  const patch = (body: object) => ada.asSession('PATCH', pathOf(license), body);
  const edits = [{ product: 'A' }, { product: 'B' }, { customer_name: 'C' }, { customer_name: 'D' }];
  const answers = await Promise.all(edits.map(patch));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);

  const { data } = await historyOf(ada, license);
  expect(data).toHaveLength(5);
  for (const [field, first] of [
    ['product', 'Orrery'],
    ['customer_name', 'Ada'],
  ]) {
    const steps = data.flatMap(({ changes }: Json) => changes).filter((step: Json) => step.field === field);
    const oldestFirst = steps.toReversed();
    expect(oldestFirst.map(({ from }: Json) => from)).toEqual([first, oldestFirst[0].to]);
  }
});

test('history rows that hold every field, as early ones of version 0.1, are returned like newer rows', async () => {
  const { ada, license } = await sellerWithLicense();
  const before = {
    status: 'active',
    expires_at: null,
    product: null,
    customer_email: license.customer_email,
    customer_name: null,
    metadata: {},
  };
  await accountsD1
    .prepare('INSERT INTO license_changes VALUES (?, ?, 1, ?, ?, ?)')
    .bind(
      ada.accountId,
      license.id,
      NOON,
      JSON.stringify(before),
      JSON.stringify({ ...before, status: 'suspended' }),
    )
    .run();
  const [entry] = (await historyOf(ada, license)).data;
  expect(entry).toEqual({
    action: 'suspended',
    at: '2027-03-10T12:00:00.000Z',
    changes: [{ field: 'status', from: 'active', to: 'suspended' }],
    by: null,
    reason: null,
    import_id: null,
    imported_at: null,
  });
});

test('the history returns unusual text and numbers exactly as they were', async () => {
  const ada = await signUp();
  const text = `NUL \0, "quotes" \\ 'ticks' 日本語 😀\u2028\u202e`;
  const metadata = { [text]: text, '': '', n: 1e300, small: 5e-324, big: 2 ** 53, no: false };
  const license = await ada.createLicense({ product: text, metadata });
  const none = Object.fromEntries(Object.keys(metadata).map((name) => [name, null]));
  await ada.asSession('PATCH', pathOf(license), { product: 'plain', metadata: none });
  await ada.asSession('PATCH', pathOf(license), { product: text, metadata });
  const [restored, replaced] = (await historyOf(ada, license)).data;
  expect(restored.changes).toEqual([
    { field: 'product', from: 'plain', to: text },
    { field: 'metadata', from: {}, to: metadata },
  ]);
  expect(replaced.changes.map(({ from }: Json) => from)).toEqual([text, metadata]);
});
