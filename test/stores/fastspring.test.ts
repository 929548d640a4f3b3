import { expect, test } from 'vitest';
import { fastspring } from '../../src/stores/provider/fastspring.ts';
import { account, body, charge, order, returned, subscription } from './bodies/fastspring.ts';
import { deliver, factsOf, readBody } from './module.ts';

const SOLD_MS = Date.parse('2027-01-10T12:00:00Z');
const NEXT_MS = Date.parse('2027-02-10T12:00:00Z');
const LATER_MS = Date.parse('2027-03-10T12:00:00Z');
const HOUR_MS = 3_600_000;
const OF = { id: 'sub1', begin: SOLD_MS, changed: SOLD_MS, next: NEXT_MS };
const told = (type: string, data: object, isLive = true) =>
  factsOf(fastspring, body([{ type, data }], isLive));

test('a signature of FastSpring’s is over the bytes of the body', () => {
  const isSigned = (text: string, sent: string) =>
    fastspring.isSigned(deliver(text, { 'x-fs-signature': sent }), ['other', 'spring-secret']);
  const signature = 'xHcpoKA5BU/6zKSbCpFi/U42JkvsNzhL+7+Fz8Hc/ps=';
  expect(isSigned('{"events":[]}', signature)).toBe(true);
  expect(isSigned('{"events":[ ]}', signature)).toBe(false);
  expect(isSigned('{"events":[]}', '')).toBe(false);
});

test('all events of a body are taken, and not the first one alone', () => {
  const reading = readBody(
    fastspring,
    body([
      { type: 'order.completed', data: order({ id: 'o1', changed: SOLD_MS, subscription: 'sub1' }) },
      { type: 'subscription.activated', data: subscription(OF) },
      { type: 'mailingListEntry.updated', data: {} },
      { type: 'order.completed', data: order({ id: 'o2', changed: SOLD_MS }) },
    ]),
  );
  expect(reading).toMatchObject({
    type: 'order.completed, subscription.activated, mailingListEntry.updated',
  });
  const facts = reading.kind === 'facts' ? reading.facts : [];
  expect(facts.map(({ kind, about }) => `${kind} ${about}`)).toEqual([
    'paid order/o1',
    'ordered subscription/sub1',
    'renews subscription/sub1',
    'paid order/o2',
  ]);
});

test('an order names its product by its path, and who bought it', () => {
  expect(told('order.completed', order({ id: 'o1', changed: SOLD_MS, quantity: 3 }))).toEqual([
    {
      kind: 'paid',
      about: 'order/o1',
      atMs: SOLD_MS,
      version: -SOLD_MS,
      number: 'ORR270110-1000-11111',
      currency: 'USD',
      amount: 3_600,
      buyer: { email: 'ada@example.com', name: 'Ada Byron', ref: 'customer/acctAbCdEfG123' },
      lines: [{ refs: ['orrery-pro'], quantity: 3 }],
    },
  ]);
});

test('the first period ends with the subscription’s next charge', () => {
  const sold = order({ id: 'o1', changed: SOLD_MS, subscription: 'sub1' });
  expect(told('order.completed', sold)).toMatchObject([
    { with: ['subscription/sub1'], covers: { renewalAfterMs: SOLD_MS + HOUR_MS } },
  ]);
  expect(told('subscription.activated', subscription(OF))).toContainEqual({
    kind: 'renews',
    about: 'subscription/sub1',
    untilMs: NEXT_MS,
    // The earliest copy says what the period was paid for.
    version: Number.MAX_SAFE_INTEGER - SOLD_MS,
    lines: [{ refs: ['orrery-pro'], quantity: 1 }],
  });
});

test('with the expansion, the subscription in an order tells the period too', () => {
  const expanded = order({ id: 'o1', changed: SOLD_MS, subscription: subscription(OF), account: account() });
  expect(told('order.completed', expanded)).toMatchObject([
    { kind: 'paid', with: ['subscription/sub1'] },
    { kind: 'renews', untilMs: NEXT_MS },
  ]);
});

test('a rebill is a payment of its own, and tells the renewals before and after it', () => {
  const expanded = charge(
    order({ id: 'o2', changed: NEXT_MS }),
    subscription({ ...OF, next: LATER_MS }),
    NEXT_MS,
  );
  expect(told('subscription.charge.completed', expanded)).toMatchObject([
    {
      kind: 'paid',
      about: 'order/o2',
      with: ['subscription/sub1'],
      covers: { untilMs: LATER_MS },
      lines: [{ refs: ['orrery-pro'], quantity: 1 }],
    },
    { kind: 'renews', untilMs: NEXT_MS },
    { kind: 'renews', untilMs: LATER_MS },
  ]);
  expect(
    readBody(
      fastspring,
      body([{ type: 'subscription.charge.completed', data: { ...expanded, status: 'failed' } }]),
    ).kind,
  ).toBe('nothing');
});

test('without the expansion, the subscription of a rebill is asked about', () => {
  const bare = body([{ type: 'subscription.charge.completed', data: charge('o2', 'sub1', NEXT_MS) }]);
  expect(readBody(fastspring, bare)).toMatchObject({
    facts: [{ kind: 'paid', about: 'order/o2', with: ['subscription/sub1'] }],
    asks: ['subscription/sub1'],
  });
  const onlyId = body([{ type: 'order.completed', data: { order: 'o1', id: 'o1' } }]);
  expect(readBody(fastspring, onlyId)).toMatchObject({ facts: [], asks: ['order/o1'] });
});

test('a return is a refund of its original order, and two parts can be all', () => {
  const of = { id: 'r1', order: 'o1', changed: NEXT_MS };
  expect(told('return.created', returned(of))).toEqual([
    { kind: 'refunded', about: 'return/r1', of: 'order/o1', atMs: NEXT_MS, amount: null },
  ]);
  expect(told('return.created', returned({ ...of, returned: 12.34 }))).toMatchObject([{ amount: 1_234 }]);
});

test('an order that isn’t live is a test, in each of its facts', () => {
  const sent = [
    ...told(
      'order.completed',
      order({ id: 'o1', changed: SOLD_MS, subscription: subscription(OF), isLive: false }),
    ),
    ...told('return.created', returned({ id: 'r1', order: 'o1', changed: NEXT_MS, isLive: false }), false),
    ...told('subscription.charge.completed', charge('o2', 'sub1', NEXT_MS), false),
  ];
  expect(sent.every(({ isTest }) => isTest === true)).toBe(true);
});

test('a subscription that is overdue isn’t renewed, and a deactivated one is over', () => {
  const kindsOf = (type: string, state: string) =>
    told(type, subscription({ ...OF, state })).map(({ kind }) => kind);
  expect(kindsOf('subscription.payment.overdue', 'overdue')).toEqual(['ordered', 'past_due']);
  expect(kindsOf('subscription.canceled', 'canceled')).toEqual(['ordered', 'renews']);
  expect(kindsOf('subscription.deactivated', 'deactivated')).toContain('ended');
});

test('what isn’t as documented is told, and what no license depends on says nothing', () => {
  expect(readBody(fastspring, { events: [] }).kind).toBe('unreadable');
  const broken = body([{ type: 'order.completed', data: { order: 'o1', id: 'o1', items: 'x', total: 1 } }]);
  expect(readBody(fastspring, broken).kind).toBe('unreadable');
  expect(readBody(fastspring, body([{ type: 'subscription.payment.reminder', data: {} }])).kind).toBe(
    'nothing',
  );
});
