import { env } from 'cloudflare:workers';
import { afterAll, expect, test, vi } from 'vitest';
import { DAY_MS, isoDate } from '../../src/shared/rules/dates.ts';
import { openShop, paid } from '../stores/shop.ts';
import { call, signUp } from '../support/client.ts';
import { evict, gate, setPlan, tamper } from '../support/gate.ts';
import { runHourly } from '../support/hourly.ts';
import { insertLicenses } from '../support/licenses.ts';

// Every statement that the service prepares while `callEveryFeature` runs.
const statements = new Set<string>();
const prepare = vi.spyOn(Object.getPrototypeOf(env.DB), 'prepare');
afterAll(() => prepare.mockRestore());

const callEveryFeature = async () => {
  const ada = await signUp();
  await call('POST', '/api/login', { body: { email: ada.email, password: ada.password } });
  await call('POST', '/api/login', { body: { email: ada.email, password: 'wrong horse battery' } });
  const untaggedToken = { authorization: `Bearer lks_${'A'.repeat(43)}` };
  expect((await call('GET', '/api/account', { headers: untaggedToken })).status).toBe(401);
  await setPlan(ada.accountId, 'scale');
  const first = await ada.createLicense({
    product: 'Orrery',
    expires_at: new Date().toISOString().slice(0, 10),
  });
  const second = await ada.createLicense();
  // Enough for a search by status to look among the licenses with that status, too.
  await insertLicenses(ada, { count: 1_000, product: 'Orrery' });
  // It has an event today.
  await insertLicenses(ada, { count: 1, product: 'Orrery', expiresAt: isoDate(Date.now() + DAY_MS) });
  await ada.asKey('POST', '/api/v1/licenses/create', {}, { 'idempotency-key': 'once' });
  await ada.asKey('POST', '/api/v1/licenses/create', {}, { 'idempotency-key': 'once' });
  for (const query of [
    '',
    '?status=active',
    '?status=expired',
    '?status=suspended',
    '?status=revoked',
    '?q=orr',
    '?q=o',
    '?q=orr&status=expired',
    '?q=orr&status=active',
    '?q=orr&status=suspended',
    '?q=charles%20babbage',
    '?q=charles%20babbage&status=active',
    '?q=a@b.co',
    '?q=a@b.co&status=active',
    '?q=a@b.co&status=expired',
    '?q=a@b.co&status=suspended',
    '?customer_email=a@b.co',
    `?customer_email=${ada.email}&sort=-customer_email`,
    '?product=Sextant&metadata.order=1',
    '?product=Orrery&q=orr&expires_after=2020-01-01',
    '?status=suspended&created_before=2020-01-01&created_after=2019-01-01',
    '?expires_before=2099-01-01&sort=expires_at',
    '?sort=created_at',
    '?sort=expires_at',
    '?sort=-expires_at',
    '?sort=customer_email',
    '?status=active&sort=-expires_at',
    '?seats=full',
    '?seats=used&sort=created_at&q=orr',
    '?machine=machine-1&product=Orrery',
  ]) {
    let cursor = '';
    for (let pages = 0; pages < 4; pages++) {
      const parameters = `${query || '?'}&limit=1${cursor}`;
      const page = await ada.asKey('GET', `/api/v1/licenses${parameters}`);
      expect([parameters, page.status]).toEqual([parameters, 200]);
      if (page.body.next_cursor === null) break;
      cursor = `&cursor=${page.body.next_cursor}`;
    }
  }
  for (const query of ['', '?limit=1', '?q=ada', '?q=a'])
    expect((await ada.asKey('GET', `/api/v1/customers${query}`)).status).toBe(200);
  await ada.asKey('PATCH', `/api/v1/licenses/${first.id}`, { customer_name: 'Ada' });
  for (const action of ['suspend', 'reinstate', 'revoke'])
    await ada.asKey('POST', `/api/v1/licenses/${second.id}/${action}`);
  await ada.asKey('POST', `/api/v1/licenses/${first.id}/renew`, { duration_days: 3 });
  for (const query of ['', '?limit=1', '?cursor=2']) {
    const history = await ada.asKey('GET', `/api/v1/licenses/${first.id}/history${query}`);
    expect(history.status).toBe(200);
  }
  for (const path of [
    'account',
    'api-keys',
    `api-keys?cursor=${ada.apiKeyId}`,
    'dashboard',
    'developer-progress',
    'onboarding',
  ]) {
    expect((await ada.asSession('GET', `/api/${path}`)).status).toBe(200);
  }
  await ada.asSession('GET', `/api/api-keys/${ada.apiKeyId}`);
  await ada.asSession('POST', '/api/init-payment', { plan: 'pro' });
  await ada.asSession('POST', '/api/init-payment', { plan: 'pro' });
  await ada.asSession('GET', '/api/billing');
  for (const query of ['', 'action=login', 'from=2020-01-01&to=2099-12-31', 'action=login&from=2020-01-01']) {
    const page = await ada.asSession('GET', `/api/audit-log?${query}`);
    expect(page.status).toBe(200);
  }
  for (const turn of [1, 2]) {
    const lines = [first, second].map(({ license_key }) =>
      JSON.stringify({ license_key, metadata: { turn } }),
    );
    const path = '/api/v1/licenses/import?on_conflict=update';
    const type = { 'content-type': 'application/x-ndjson' };
    expect((await ada.asSession('POST', path, lines.join('\n'), type)).status).toBe(200);
  }
  const shop = await openShop({}, ada);
  await shop.notify(paid('1', { email: ada.email }));
  await shop.offer('pro', { grant: 'subscription' });
  await shop.notify(paid('2', { period_end: '2099-01-31', quantity: 2 }));
  await shop.notify({ type: 'refunded', order: '2' });
  for (const path of [
    'stores',
    `stores/${shop.storeId}/offers?cursor=a`,
    'purchases',
    'purchases?status=pending&q=1',
  ])
    expect((await ada.asSession('GET', `/api/${path}`)).status).toBe(200);
  const [purchase] = await shop.purchases();
  expect((await ada.asSession('GET', `/api/purchases/${purchase.id}`)).status).toBe(200);
  await ada.asSession('POST', '/api/erase-customer', { customer_email: ada.email });
  await ada.asSession('DELETE', `/api/stores/${shop.storeId}`);
  await runHourly();
  // The gate's reads: feed, background load and read-through.
  await tamper(ada.accountId, 'DELETE FROM facts; DELETE FROM keys; DELETE FROM licenses');
  await ada.verify(first.license_key);
  await gate(ada.accountId).pull();
  await evict(ada.accountId);
  await ada.asSession('DELETE', `/api/api-keys/${ada.apiKeyId}`);
  await ada.asSession('POST', '/api/logout');
};

interface PlanRow {
  id: number;
  parent: number;
  detail: string;
}

const planOf = async (statement: string) => {
  const bindings = Array.from(statement.matchAll(/\?/g), () => null);
  const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN ${statement}`)
    .bind(...bindings)
    .all<PlanRow>();
  return results;
};

/**
 * Returns whether a step reads a whole table or index. SQLite also calls full-text matches, VALUES rows and
 * materialized subqueries a SCAN, which are fine. A full-text match needs two bounds (`><`), which limit it to the account.
 */
const isScan = ({ detail }: PlanRow, plan: PlanRow[]) => {
  const [, name = ''] = /^SCAN (\S+)/.exec(detail) ?? [];
  const isSubquery = plan.some(({ detail: step }) =>
    [`MATERIALIZE ${name}`, `CO-ROUTINE ${name}`].includes(step),
  );
  if (name === '' || isSubquery) return false;
  return !/^SCAN (license_trigrams VIRTUAL TABLE INDEX \d+:M\d+><$|json_each |\d+-ROW VALUES CLAUSE$|(\d+ )?CONSTANT ROWS?$)/.test(
    detail,
  );
};

/**
 * Returns whether a step looks through the rows of a JSON array once for each row of a table, in place of looking up the rows
 * that the array names.
 */
const isInnerLoop = ({ id, parent, detail }: PlanRow, plan: PlanRow[]) =>
  detail.startsWith('SCAN json_each ') &&
  plan.some((step) => step.parent === parent && step.id < id && /^(SEARCH|SCAN) /.test(step.detail));

const CANDIDATES = 'CO-ROUTINE candidates';

const isWithinCandidates = ({ parent }: PlanRow, plan: PlanRow[]): boolean => {
  const step = plan.find(({ id }) => id === parent);
  return step !== undefined && (step.detail === CANDIDATES || isWithinCandidates(step, plan));
};

/** Sorting would read every matching row for a single page. Candidates are few, so a page of these may be sorted. */
const isSort = (row: PlanRow, plan: PlanRow[]) =>
  row.detail.includes('USE TEMP B-TREE') &&
  (isWithinCandidates(row, plan) || !plan.some(({ detail }) => detail === CANDIDATES));

test('no statement sent to D1 scans a table, sorts its rows, or reads an array again for each of them', async () => {
  await callEveryFeature();
  for (const [statement] of prepare.mock.calls as [string][]) statements.add(statement);
  const queries = [...statements].filter((statement) => /\b(from|into|update)\b/i.test(statement));
  expect(queries.length).toBeGreaterThan(40);
  const plans = await Promise.all(
    queries.map(async (statement) => ({ statement, plan: await planOf(statement) })),
  );
  expect(
    plans.filter(({ plan }) =>
      plan.some((row) => isScan(row, plan) || isSort(row, plan) || isInnerLoop(row, plan)),
    ),
  ).toEqual([]);
});
