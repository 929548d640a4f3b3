import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { workOnStores } from '../../src/stores/work.ts';
import { call, outcomeOf } from '../support/client.ts';
import { recordStatements } from '../support/d1-queries.ts';
import { keepMails, mailsTo } from '../support/mails.ts';
import { verifyAddress } from '../support/sign-in.ts';
import { sale } from './bodies/gumroad.ts';
import { openShop, paid, SECRET } from './shop.ts';

afterEach(() => vi.restoreAllMocks());

test('what is due is found by as many queries for many stores as for one', async () => {
  const shop = await openShop();
  const { ada } = shop;
  const countQueries = async () =>
    (await recordStatements(() => workOnStores(env, ada.accountId))).statements.length;
  const ofOne = await countQueries();
  for (let i = 0; i < 7; i++) {
    const store = { provider: 'generic', name: `Shop ${i}`, secret: SECRET };
    expect(outcomeOf(await ada.asSession('POST', '/api/stores', store))).toBe('201 ok');
  }
  expect(await countQueries()).toBe(ofOne);
  expect(ofOne).toBeLessThanOrEqual(5);
});

test('what is due in a later store is worked on, too', async () => {
  const first = await openShop();
  const second = await openShop({}, first.ada);
  await second.notify(paid('1'));
  expect(await second.purchases()).toMatchObject([{ status: 'unmapped' }]);
  await second.offer('pro', { grant: 'perpetual' });
  expect(await first.licenses()).toHaveLength(1);
});

const pathOf = (input: RequestInfo | URL): string =>
  new URL(input instanceof Request ? input.url : input).pathname;

/** A store whose sales are told by Gumroad's API, and which has just been told of one. */
const openGumroad = async () => {
  const shop = await openShop();
  const { ada } = shop;
  await verifyAddress(ada.accountId);
  await shop.offer('pro', { grant: 'perpetual' });
  const answer = { success: true, sale: sale({ id: 's1', createdAt: '2027-01-10T12:00:00Z' }) };
  const list = { success: true, sales: [] };
  const asked = vi
    .spyOn(globalThis, 'fetch')
    .mockImplementation((input) =>
      Promise.resolve(Response.json(pathOf(input).endsWith('/s1') ? answer : list)),
    );
  const store = { provider: 'gumroad', name: 'Shop', api_key: 'key' };
  const { body } = await ada.asSession('POST', '/api/stores', store);
  await ada.asSession('PUT', `/api/stores/${body.id}/offers/orrery`, { product: 'mill', grant: 'perpetual' });
  const { pathname } = new URL(body.webhook_url);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const tell = async () =>
    expect(outcomeOf(await call('POST', pathname, { body: 'sale_id=s1', headers }))).toBe('200 ok');
  await tell();
  const countAsks = () => asked.mock.calls.filter(([input]) => pathOf(input).endsWith('/sales/s1')).length;
  return { shop, tell, countAsks, work: () => workOnStores(env, ada.accountId) };
};

test('several workers at once ask a provider about a sale once', async () => {
  const { countAsks, work } = await openGumroad();
  await Promise.all([work(), work(), work()]);
  expect(countAsks()).toBe(1);
});

test('a key is mailed before a provider is asked what other notifications mean', async () => {
  keepMails();
  const { shop, countAsks, work } = await openGumroad();
  await shop.notify(paid('1'));
  await work();
  expect(mailsTo('grace@example.com')).toHaveLength(1);
  expect(countAsks()).toBe(0);
});

test('a notification that comes again is answered before the provider is asked, as the first one was', async () => {
  const { shop, tell, countAsks, work } = await openGumroad();
  await tell();
  expect(countAsks()).toBe(0);
  await work();
  expect(countAsks()).toBe(1);
  expect(await shop.licenses()).toHaveLength(1);
});
