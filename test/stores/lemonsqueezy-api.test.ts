import { expect, test } from 'vitest';
import { lemonsqueezy } from '../../src/stores/provider/lemonsqueezy.ts';
import { invoice, order, subscription } from './bodies/lemonsqueezy.ts';
import { listAll, openApi } from './module.ts';

const CREATED = '2027-01-10T12:00:00.000000Z';
const NEXT_YEAR = '2028-01-20T12:00:00.000000Z';
const OF = { id: '5', order: '1', createdAt: CREATED, updatedAt: CREATED, renewsAt: NEXT_YEAR };
const api = lemonsqueezy.api!;

const page = (data: object[], currentPage = 1, lastPage = 1) => ({
  data,
  meta: { page: { currentPage, lastPage } },
});

test('Lemon Squeezy’s lists find what never came, with the refunds of the last month', async () => {
  const old = '2026-11-01T00:00:00Z';
  const { access, calls } = openApi('key', {
    '/v1/orders?page%5Bsize%5D=100&page%5Bnumber%5D=1': page([order({ id: '3', createdAt: CREATED })], 1, 3),
    '/v1/orders?page%5Bsize%5D=100&page%5Bnumber%5D=2': page(
      [
        order({ id: '2', createdAt: '2026-12-20T00:00:00Z', status: 'refunded' }),
        order({ id: '1', createdAt: old }),
      ],
      2,
      3,
    ),
    '/v1/orders?page%5Bsize%5D=100&page%5Bnumber%5D=3': page([order({ id: '0', createdAt: old })], 3, 3),
    '/v1/subscription-invoices': page([invoice({ id: '9', subscription: '5', createdAt: CREATED })]),
    '/v1/subscriptions': page([subscription(OF)]),
  });
  const { facts } = await listAll(lemonsqueezy, access, Date.parse('2027-01-09T00:00:00Z'));
  expect(facts.map(({ kind, about }) => `${kind} ${about}`)).toEqual([
    'paid order/3',
    'paid order/2',
    'refunded order/2',
    'paid invoice/9',
    'renews subscription/5',
    'ordered subscription/5',
    'joined first-payment/5',
    'renews subscription/5',
  ]);
  expect(calls[0]?.headers).toEqual({ authorization: 'Bearer key', accept: 'application/vnd.api+json' });
});

const changed = invoice({
  id: '10',
  subscription: '5',
  reason: 'updated',
  createdAt: '2027-01-20T12:00:00Z',
});
const first = invoice({ id: '8', subscription: '5', reason: 'initial', createdAt: CREATED });

const answering = (changes: { status?: string; later?: object[] } = {}) =>
  openApi('key', {
    '/v1/subscription-invoices/10': { data: changed },
    '/v1/subscription-invoices?filter': page([...(changes.later ?? []), changed, first]),
    '/v1/subscriptions/5': { data: subscription({ ...OF, status: changes.status ?? 'active' }) },
  }).access;

test('a change from a month to a year is paid for a year, as the API tells', async () => {
  expect(await api.ask!(answering(), 'invoice/10')).toMatchObject([
    { kind: 'paid', about: 'invoice/10', covers: { untilMs: Date.parse(NEXT_YEAR) }, version: 1 },
  ]);
});

test('the API’s renewal is not taken for an invoice that a later one has followed', async () => {
  const later = invoice({ id: '11', subscription: '5', createdAt: '2027-02-10T12:00:00Z' });
  expect(await api.ask!(answering({ later: [later] }), 'invoice/10')).toEqual([]);
  expect(await api.ask!(answering({ status: 'past_due' }), 'invoice/10')).toEqual([]);
});

test('the store’s own page is that of the subscription, or the receipt of the order', async () => {
  const { access } = openApi('key', {
    '/v1/subscriptions/5': { data: subscription(OF) },
    '/v1/orders/1': { data: order({ id: '1', createdAt: CREATED }) },
  });
  expect(await api.storeLink!(access, ['order/1', 'subscription/5'], null)).toMatch(
    'lemonsqueezy.com/billing',
  );
  expect(await api.storeLink!(access, ['order/1'], null)).toMatch('/my-orders/');
  expect(await api.storeLink!(access, ['invoice/9'], null)).toBeNull();
});
