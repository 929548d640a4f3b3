import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { generic } from '../../src/stores/provider/generic.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const NOW_MS = Date.parse('2026-11-27T12:00:00.000Z');

/** A delivery that Standard Webhooks' own library has signed. */
const delivery = (text: string, { secret = SECRET, atMs = NOW_MS, sent = text } = {}) => ({
  body: new TextEncoder().encode(sent),
  headers: new Headers({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(atMs / 1_000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', new Date(atMs), text),
  }),
  token: null,
  nowMs: NOW_MS,
});

const read = (body: unknown) => generic.read({ body: JSON.stringify(body), topic: null });
const factsOf = (body: unknown) => {
  const reading = read(body);
  return reading.kind === 'facts' ? reading.facts : reading;
};

test('a shop signs as Standard Webhooks has it', () => {
  expect(generic.isSigned(delivery('{"a":1}'), [SECRET])).toBe(true);
  expect(generic.isSigned(delivery('{"a":1}'), ['whsec_b3RoZXI=', SECRET])).toBe(true);
  expect(generic.isSigned(delivery('{"a":1}'), ['whsec_b3RoZXI='])).toBe(false);
  expect(generic.isSigned(delivery('{"a":1}', { sent: '{"a":2}' }), [SECRET])).toBe(false);
  expect(generic.isSigned(delivery('{"a":1}', { atMs: NOW_MS - 301_000 }), [SECRET])).toBe(false);
  expect(generic.isSigned({ ...delivery(''), headers: new Headers() }, [SECRET])).toBe(false);
});

test('a payment names its order, what was bought, and who bought it', () => {
  const paid = { id: 'n1', type: 'paid', order: 7, offer: 'pro', email: 'Grace@Example.com', quantity: 3 };
  expect(factsOf({ ...paid, amount: 4900, currency: 'usd' })).toEqual([
    {
      kind: 'paid',
      about: 'order/7',
      with: ['order/7'],
      version: 1,
      number: '7',
      buyer: { email: 'grace@example.com' },
      lines: [{ refs: ['pro'], quantity: 3 }],
      amount: 4900,
      currency: 'usd',
    },
  ]);
});

test('in a subscription, the payment is known by its order and the end of its period', () => {
  const renewed = { type: 'renewed', order: '7', period_end: '2027-01-31' };
  const covers = { untilMs: Date.parse('2027-01-31') };
  const about = { about: 'period/7/2027-01-31', with: ['order/7'] };
  expect(factsOf(renewed)).toEqual([{ kind: 'paid', ...about, version: -1, covers }]);
  expect(factsOf({ ...renewed, type: 'refunded', amount: 5 })).toEqual([
    { kind: 'refunded', ...about, of: about.about, amount: 5, version: 5 },
  ]);
  expect(factsOf({ ...renewed, type: 'disputed' })).toEqual([
    { kind: 'disputed', ...about, of: about.about, state: 'open' },
  ]);
  expect(factsOf({ ...renewed, type: 'past_due' })).toEqual([{ kind: 'past_due', ...about, ...covers }]);
});

test('a refund or a dispute without a period is about all of the order', () => {
  const about = { about: 'order/7', with: ['order/7'], of: 'all' };
  expect(factsOf({ type: 'refunded', order: '7' })).toMatchObject([
    { kind: 'refunded', ...about, amount: null },
  ]);
  expect(factsOf({ type: 'dispute_won', order: '7' })).toEqual([
    { kind: 'disputed', ...about, state: 'won' },
  ]);
  expect(factsOf({ type: 'ended', order: '7' })).toEqual([{ kind: 'ended', about: 'order/7' }]);
});

test('what a body lacks is told, and a type of the future says nothing', () => {
  const paid = { type: 'paid', order: '7', offer: 'pro', email: 'grace@example.com' };
  expect(read({ ...paid, email: 'grace' })).toMatchObject({
    kind: 'unreadable',
    problem: expect.stringMatching(/^email /),
  });
  expect(read({ ...paid, order: undefined })).toMatchObject({
    kind: 'unreadable',
    problem: expect.stringMatching(/^order /),
  });
  expect(read({ type: 'renewed', order: '7' })).toEqual({
    kind: 'unreadable',
    problem: 'period_end is required.',
  });
  expect(read('paid')).toMatchObject({ kind: 'unreadable' });
  expect(generic.read({ body: '{', topic: null })).toMatchObject({ kind: 'unreadable' });
  expect(read({ ...paid, type: 'shipped' })).toEqual({ kind: 'nothing', type: 'shipped' });
});
