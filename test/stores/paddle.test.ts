import { expect, test } from 'vitest';
import type { StoreFact } from '../../src/purchases/rules/facts.ts';
import { paymentsOf } from '../../src/purchases/rules/payments.ts';
import { slotsOf } from '../../src/purchases/rules/slots.ts';
import { paddle } from '../../src/stores/provider/paddle.ts';
import { adjustment, customer, event, subscription, transaction } from './bodies/paddle.ts';
import { deliver, factsOf, listAll, openApi, readBody } from './module.ts';

const CREATED = '2027-01-10T12:00:00.123456Z';
const FIRST = { starts_at: '2027-01-10T12:00:00.000000Z', ends_at: '2027-02-10T12:00:00.000000Z' };
const SOLD = { id: 'txn_01', subscription: 'sub_01', period: FIRST, createdAt: CREATED };
const BODY = '{"event_type":"transaction.completed"}';
const SIGNATURE = '9617399584dbf12bccaa61230bcd40bdf03cdb49e8060ad7e58358aa5870ce4e';
const SECRET = 'pdl_ntfset_secret';
const told = (type: string, data: object) => factsOf(paddle, event(type, data));

test('a signature of Paddle’s is over its time and the bytes of the body', () => {
  const isSigned = (header: string, body = BODY, secrets = [SECRET], nowMs = 1_799_582_410_000) =>
    paddle.isSigned(deliver(body, { 'paddle-signature': header }, { nowMs }), secrets);
  const header = `ts=1799582400;h1=${SIGNATURE}`;
  expect(isSigned(header)).toBe(true);
  expect(isSigned(header, BODY, ['pdl_ntfset_new', SECRET])).toBe(true);
  expect(isSigned(header, `${BODY} `)).toBe(false);
  expect(isSigned(header, BODY, ['pdl_ntfset_new'])).toBe(false);
  expect(isSigned(header, BODY, [SECRET], 1_799_582_400_000 + 301_000)).toBe(false);
  expect(isSigned(`ts=1799582401;h1=${SIGNATURE}`)).toBe(false);
  expect(isSigned(`h1=${SIGNATURE}`)).toBe(false);
});

test('while Paddle rotates a secret, one of its several signatures is enough', () => {
  const header = `ts=1799582400;h1=${'0'.repeat(64)};h1=${SIGNATURE}`;
  const delivery = deliver(BODY, { 'paddle-signature': header }, { nowMs: 1_799_582_410_000 });
  expect(paddle.isSigned(delivery, [SECRET])).toBe(true);
});

test('a transaction pays to the end of its billing period, and its price counts before its product', () => {
  expect(readBody(paddle, event('transaction.completed', transaction(SOLD)))).toEqual({
    kind: 'facts',
    type: 'transaction.completed',
    facts: [
      {
        kind: 'paid',
        about: 'transaction/txn_01',
        with: ['subscription/sub_01'],
        atMs: Date.parse(CREATED),
        version: Date.parse(CREATED),
        number: '325-10566',
        buyer: { ref: 'customer/ctm_01hv6y1jedq4p1n0yqn5ba3ky4' },
        lines: [{ refs: ['pri_01gsz8x8sawmvhz1pv30nge1ke', 'pro_01gsz4t5hdjse780zja8vvr7jg'], quantity: 1 }],
        amount: 3_600,
        currency: 'USD',
        covers: { untilMs: Date.parse(FIRST.ends_at) },
      },
    ],
    asks: ['customer/ctm_01hv6y1jedq4p1n0yqn5ba3ky4'],
  });
});

test('a change in the middle of a period is the difference, and a renewal bills the whole', () => {
  const sold = (
    id: string,
    origin: string,
    items: [price: string, quantity: number, isProrated?: boolean][],
  ) => {
    const sent = transaction({ ...SOLD, id });
    const [item] = sent.items;
    return factsOf(
      paddle,
      event('transaction.completed', {
        ...sent,
        origin,
        billed_at: `2027-01-1${id}T12:00:00Z`,
        items: items.map(([price, quantity, isProrated = false]) => ({
          ...item!,
          price: { ...item!.price, id: price },
          quantity,
          proration: isProrated ? { rate: '0.5' } : null,
        })),
      }),
    );
  };
  const first = sold('1', 'web', [['pri_solo', 2]]);
  const more = sold('2', 'subscription_update', [['pri_solo', 3, true]]);
  const other = sold('3', 'subscription_update', [
    ['pri_solo', -5, true],
    ['pri_team', 1, true],
  ]);
  const renewal = sold('4', 'subscription_recurring', [
    ['pri_team', 1, true],
    ['pri_team', 2],
  ]);
  const now = (facts: StoreFact[]) =>
    slotsOf(paymentsOf(facts.map((fact) => ({ fact, takenAtMs: 0 }))), []).map(({ paid }) => {
      const line = paid.at(-1)?.line;
      return `${line?.refs[0]} ${line?.quantity}`;
    });
  expect(now(first)).toEqual(['pri_solo 2']);
  expect(now([...more, ...first])).toEqual(['pri_solo 5']);
  expect(now([...other, ...first, ...more])).toEqual(['pri_team 1']);
  expect(now([...renewal, ...first, ...more, ...other])).toEqual(['pri_team 2']);
});

test('a transaction that isn’t paid sells nothing, whatever its notification is called', () => {
  const unpaid = { ...SOLD, status: 'billed' };
  expect(readBody(paddle, event('transaction.completed', transaction(unpaid))).kind).toBe('nothing');
  expect(told('transaction.updated', transaction({ ...SOLD, status: 'past_due' }))).toMatchObject([
    { kind: 'past_due', about: 'transaction/txn_01', with: ['subscription/sub_01'] },
  ]);
});

test('the address comes with the customer, and two copies of it agree on the newer one', () => {
  expect(told('customer.updated', customer({ email: 'Ada@Example.com' }))).toEqual([
    {
      kind: 'buyer',
      about: 'customer/ctm_01hv6y1jedq4p1n0yqn5ba3ky4',
      email: 'ada@example.com',
      name: 'Ada Byron',
      version: Date.parse('2027-01-10T11:58:00Z'),
    },
  ]);
});

test('a refund counts only when Paddle has approved it, and only a full one is all', () => {
  const refund = { id: 'adj_01', action: 'refund', transaction: 'txn_01', createdAt: CREATED };
  const of = { kind: 'refunded', about: 'refund/adj_01', of: 'transaction/txn_01' };
  for (const status of ['pending_approval', 'rejected'])
    expect(readBody(paddle, event('adjustment.created', adjustment({ ...refund, status }))).kind).toBe(
      'nothing',
    );
  expect(told('adjustment.updated', adjustment(refund))).toMatchObject([{ ...of, amount: null }]);
  expect(told('adjustment.updated', adjustment({ ...refund, type: 'partial', total: '1200' }))).toMatchObject(
    [{ ...of, amount: 1_200 }],
  );
  expect(told('adjustment.updated', adjustment({ ...refund, status: 'reversed' }))).toMatchObject([
    { ...of, amount: 0 },
  ]);
});

test('a chargeback is a dispute, a reversed one is won, and a warning or a credit is neither', () => {
  const about = { transaction: 'txn_01', createdAt: CREATED };
  const stateOf = (action: string) =>
    told('adjustment.created', adjustment({ id: 'adj_02', action, ...about }));
  const dispute = { kind: 'disputed', about: 'dispute/txn_01', of: 'transaction/txn_01' };
  expect(stateOf('chargeback')).toMatchObject([{ ...dispute, state: 'open' }]);
  expect(stateOf('chargeback_reverse')).toMatchObject([{ ...dispute, state: 'won' }]);
  for (const action of ['chargeback_warning', 'credit', 'credit_reverse'])
    expect(
      readBody(paddle, event('adjustment.created', adjustment({ id: 'adj_02', action, ...about }))).kind,
    ).toBe('nothing');
});

test('a subscription is over only when its status says so', () => {
  const of = { id: 'sub_01', updatedAt: '2027-02-10T12:00:00Z' };
  expect(
    told('subscription.created', subscription({ ...of, status: 'active', transaction: 'txn_01' })),
  ).toEqual([{ kind: 'linked', about: 'subscription/sub_01', with: ['transaction/txn_01'] }]);
  const planned = subscription({ ...of, status: 'active', cancelsAt: FIRST.ends_at });
  expect(readBody(paddle, event('subscription.canceled', planned)).kind).toBe('nothing');
  expect(told('subscription.updated', subscription({ ...of, status: 'canceled' }))).toEqual([
    { kind: 'ended', about: 'subscription/sub_01' },
  ]);
  expect(told('subscription.past_due', subscription({ ...of, status: 'past_due' }))).toMatchObject([
    { kind: 'past_due', about: 'subscription/sub_01', atMs: Date.parse(of.updatedAt) },
  ]);
});

test('what isn’t as documented is told, and what no license depends on says nothing', () => {
  expect(readBody(paddle, event('transaction.completed', { id: 'txn_01' })).kind).toBe('unreadable');
  expect(readBody(paddle, '{').kind).toBe('unreadable');
  expect(readBody(paddle, event('address.created', { id: 'add_01' }))).toEqual({
    kind: 'nothing',
    type: 'address.created',
  });
});

test('Paddle’s list of events finds what never came, back to a time', async () => {
  const eventOf = (i: number, at: string) => ({
    ...event('transaction.completed', transaction({ ...SOLD, id: `txn_${i}` }), at),
    event_id: `evt_${i}`,
  });
  const page = (data: object[], has_more: boolean) => ({ data, meta: { pagination: { has_more } } });
  const broken = { ...event('transaction.completed', {}), event_id: 'evt_x' };
  const { access, calls } = openApi('pdl_live_apikey_x', {
    '/events?per_page=100&order_by=id%5BDESC%5D': page([eventOf(3, CREATED), broken], true),
    '/events?per_page=100&order_by=id%5BDESC%5D&after=evt_x': page(
      [eventOf(2, CREATED), eventOf(1, '2026-12-01T00:00:00Z')],
      true,
    ),
  });
  const { facts, asks, pages } = await listAll(paddle, access, Date.parse('2027-01-09T00:00:00Z'));
  expect(facts.map(({ about }) => about)).toEqual(['transaction/txn_3', 'transaction/txn_2']);
  expect([new Set(asks).size, pages, calls[0]?.headers]).toEqual([
    1,
    2,
    { authorization: 'Bearer pdl_live_apikey_x', 'paddle-version': '1' },
  ]);
});

test('Paddle’s API tells the address and opens the customer’s own page', async () => {
  const overview = 'https://customer-portal.paddle.com/cpl_01?token=x';
  const { access, calls } = openApi('pdl_sdbx_apikey_x', {
    '/customers/ctm_01': { data: customer({ id: 'ctm_01' }) },
    '/customers/ctm_01/portal-sessions': { data: { urls: { general: { overview } } } },
  });
  const api = paddle.api!;
  expect(api.origin(access.key)).toBe('https://sandbox-api.paddle.com');
  expect(api.origin('pdl_live_apikey_x')).toBe('https://api.paddle.com');
  expect(await api.ask!(access, 'customer/ctm_01')).toMatchObject([
    { kind: 'buyer', email: 'ada@example.com' },
  ]);
  const things = ['transaction/txn_01', 'subscription/sub_01'] as const;
  expect(await api.storeLink!(access, [...things], 'customer/ctm_01')).toBe(overview);
  expect(calls.at(-1)).toMatchObject({ method: 'POST', json: { subscription_ids: ['sub_01'] } });
  expect(await api.storeLink!(access, [...things], null)).toBeNull();
});
