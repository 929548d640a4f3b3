import { expect, test, vi } from 'vitest';
import { audit } from '../../src/audit/audit.ts';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { firstIdAt } from '../../src/shared/text/ids.ts';
import { storedEntries } from '../support/audit.ts';
import { call, type Customer, type Json, register, signUp } from '../support/client.ts';
import { countRowsRead } from '../support/d1-queries.ts';
import { accountsD1, ctxOf, firstD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { runHourly } from '../support/hourly.ts';

const list = async (customer: Pick<Customer, 'asSession'>, query = ''): Promise<Json> => {
  const { status, body } = await customer.asSession('GET', `/api/audit-log?${query}`);
  expect([query, status]).toEqual([query, 200]);
  return body;
};

const actionsIn = ({ data }: Json): string[] => data.map(({ action }: Json) => action);

/** Inserts entries directly into D1, a second apart. */
const insertEntries = (d1: D1Database, accountId: string, firstMs: number, count: number) =>
  d1
    .prepare(
      `INSERT INTO audit_log (account_id, id, action, actor_kind)
       SELECT ?1, value, 'license.create', 'api_key' FROM json_each(?2)`,
    )
    .bind(
      accountId,
      JSON.stringify(
        Array.from({ length: count }, (_one, i) => firstIdAt('aud', firstMs + i * 1_000).padEnd(24, 'x')),
      ),
    )
    .run();

test('an entry names the action, its target, the caller, the time and the address', async () => {
  useFakeClock('2027-02-01T12:00:00.000Z');
  const ada = await signUp();
  const from = { 'cf-connecting-ip': '2001:db8::1:2' };
  await ada.asKey('GET', `/api/api-keys/${ada.apiKeyId}`, undefined, from);
  const entry = {
    id: expect.stringMatching(/^aud_\w{20}$/),
    at: expect.stringMatching(/^2027-02-01T12:00:0/),
  };
  const session = { kind: 'session', id: expect.stringMatching(/^ses_/) };
  expect((await list(ada)).data).toEqual([
    {
      ...entry,
      action: 'api_key.reveal',
      actor: { kind: 'api_key', id: ada.apiKeyId },
      target: ada.apiKeyId,
      ip: '2001:db8::1:2',
      details: {},
    },
    {
      ...entry,
      action: 'api_key.create',
      actor: session,
      target: ada.apiKeyId,
      ip: null,
      details: { scope: 'full' },
    },
    { ...entry, action: 'register', actor: session, target: null, ip: null, details: {} },
  ]);
});

test('the list merges the entries of both databases, newest first, in pages and between two times', async () => {
  useFakeClock('2027-03-01T12:00:00.000Z');
  const ada = await register();
  const bob = await signUp();
  await ada.asSession('PUT', '/api/v1/products/orrery', {});
  vi.setSystemTime('2027-03-02T12:00:00.000Z');
  await call('POST', '/api/login', { body: ada });
  await ada.asSession('DELETE', '/api/v1/products/orrery');
  const all = ['product.delete', 'login', 'product.put', 'register'];
  expect(actionsIn(await list(ada))).toEqual(all);
  const first = await list(ada, 'limit=3');
  const second = await list(ada, `limit=3&cursor=${first.next_cursor}`);
  expect([actionsIn(first), actionsIn(second), second.next_cursor]).toEqual([
    all.slice(0, 3),
    all.slice(3),
    null,
  ]);

  expect(actionsIn(await list(ada, 'action=login'))).toEqual(['login']);
  expect(actionsIn(await list(ada, 'from=2027-03-02'))).toEqual(all.slice(0, 2));
  expect(actionsIn(await list(ada, 'to=2027-03-01'))).toEqual(all.slice(2));
  expect(actionsIn(await list(ada, 'from=2027-03-01T13:00:00Z&to=2027-03-02T11:00:00.000Z'))).toEqual([]);
  expect(actionsIn(await list(ada, 'from=0001-01-01&to=9999-12-31'))).toEqual(all);
  for (const query of ['action=verify', 'from=yesterday', 'to=2027-02-30', 'cursor=lic_1'])
    expect((await ada.asSession('GET', `/api/audit-log?${query}`)).status).toBe(400);
  expect(actionsIn(await list(bob))).toEqual(['api_key.create', 'register']);
});

test('a rare action is found in short pages, each of which reads a bounded number of rows', async () => {
  const ada = await signUp();
  await insertEntries(accountsD1, ada.accountId, Date.now() + DAY_MS, 12_000);
  const found: string[] = [];
  let pages = 0;
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: Json = await list(ada, `action=api_key.create${cursor && `&cursor=${cursor}`}`);
    found.push(...actionsIn(page));
    cursor = page.next_cursor;
    pages++;
  }
  expect([found, pages]).toEqual([['api_key.create'], 3]);
  expect(await countRowsRead(() => list(ada, 'action=api_key.create'))).toBeLessThan(20_000);
  expect(await countRowsRead(() => list(ada))).toBeLessThan(150);
});

test('an entry costs one row, and another to count its bytes', async () => {
  const { accountId } = await register();
  const [{ meta }] = await ctxOf(accountId).db.batch([audit(ctxOf(accountId), 'account.update', null)]);
  expect(meta.rows_written).toBe(2);
});

test('the scheduled work deletes entries that are more than a year old, in every database', async () => {
  const [ada, bob] = [await register(), await register()];
  const yearAgo = Date.now() - 366 * DAY_MS;
  const recent = new Set((await storedEntries()).map(({ id }) => id));
  for (const d1 of [firstD1, accountsD1]) {
    await insertEntries(d1, ada.accountId, yearAgo - 1_500_000, 1_500);
    await insertEntries(d1, bob.accountId, yearAgo - 10_000, 5);
    await insertEntries(d1, bob.accountId, yearAgo + 60_000, 1);
  }
  await runHourly();
  const left = (await storedEntries()).filter(({ id }) => !recent.has(id));
  expect(left.map((entry) => entry.account_id)).toEqual([bob.accountId, bob.accountId]);
});

test('erasing customers who never had a license leaves one entry an hour, and each of the others leaves its own', async () => {
  useFakeClock('2027-02-01T12:00:00.000Z');
  const ada = await signUp();
  await ada.createLicense({ customer_email: 'grace@example.com' });
  await ada.createLicense({ customer_email: 'Alan@example.com' });
  const { id } = await ada.createLicense({ customer_email: 'former@example.com' });
  await ada.asSession('PATCH', `/api/v1/licenses/${id}`, { customer_email: 'successor@example.com' });
  const erase = async (name: string) => {
    const answer = await ada.asSession('POST', '/api/erase-customer', {
      customer_email: `${name}@example.com`,
    });
    return answer.body.licenses;
  };
  const found = [];
  for (const name of ['nobody', 'grace', 'no-one', 'alan', 'former', 'nobody']) found.push(await erase(name));
  expect(found).toEqual([0, 1, 0, 1, 1, 0]);
  expect((await list(ada, 'action=customer.erase')).data).toHaveLength(4);
  vi.advanceTimersByTime(3_600_000);
  await erase('nobody');
  expect((await list(ada, 'action=customer.erase')).data).toHaveLength(5);
});
