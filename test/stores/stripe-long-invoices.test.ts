import { expect, test } from 'vitest';
import { replaces } from '../../src/purchases/rules/facts.ts';
import { isoDate } from '../../src/shared/rules/dates.ts';
import { stripe } from '../../src/stores/provider/stripe.ts';
import { event, invoice, session } from './bodies/stripe.ts';
import { sold } from './decided.ts';
import { factsOf, openApi, readBody } from './module.ts';
import { type Line, paid } from './stripe-lines.ts';

// Invoices of more lines than the ten that Stripe's notifications have. Those for what was changed come first.

const PLANS = { price_pro: 'pro', price_team: 'team' };
const api = stripe.api!;

/** What a change of quantity adds to the next invoice: what was left is given back, and the new quantity is billed. */
const change = (from: string): Line[] => [
  { price: 'price_pro', amount: -500, from, to: '2028-01-10', isCredit: true },
  { price: 'price_pro', amount: 600, from, to: '2028-01-10', isProration: true },
];
const CHANGES = ['02-01', '03-01', '04-01', '05-01', '06-01', '07-01'].flatMap((day) =>
  change(`2027-${day}`),
);
const RENEWED: Line = { price: 'price_pro', amount: 9_000, from: '2028-01-10', to: '2029-01-10' };
const FIRST = paid('in_1', '2027-01-10', 'subscription_create', [
  { price: 'price_pro', amount: 9_000, from: '2027-01-10', to: '2028-01-10' },
]);

const toSeconds = (day: string) => Date.parse(`${day}T12:00:00Z`) / 1_000;

/** Returns the notification of an invoice, which is cut, and the double of an API that has the whole one. */
const cut = (lines: Line[], reason = 'subscription_cycle') => {
  const { body } = paid('in_2', '2028-01-10', reason, lines);
  const period = { period_start: toSeconds('2027-01-10'), period_end: toSeconds('2028-01-10') };
  const whole = { ...(body.data.object as ReturnType<typeof invoice>), ...period };
  const first = { ...whole.lines, data: whole.lines.data.slice(0, 10), has_more: true };
  const object = { ...whole, lines: first };
  const pageOf = (path: string) => {
    const start = whole.lines.data.findIndex(({ id }) => path.endsWith(`starting_after=${id}`)) + 1;
    return { data: whole.lines.data.slice(start, start + 6), has_more: start + 6 < whole.lines.data.length };
  };
  const answers = { '/v1/invoices/in_2': object, '/v1/invoices/in_2/lines?limit=100': pageOf };
  return { sent: { body: event('invoice.paid', object) }, ...openApi('rk_live_x', answers) };
};

test('a renewal whose invoice has more lines than its notification is paid to the end of the new period', async () => {
  const { sent, access, calls } = cut([...CHANGES, RENEWED]);
  expect(readBody(stripe, sent.body)).toMatchObject({ asks: ['invoice/in_2'] });
  // Until the rest is known, or in a store without an API key, the period is taken to be as long as the one before.
  expect(sold(stripe, [FIRST, sent], PLANS)).toEqual(['pro ×1 to 2029-01-10']);
  const asked = await api.ask!(access, 'invoice/in_2');
  expect(sold(stripe, [FIRST, sent], PLANS, asked)).toEqual(['pro ×1 to 2029-01-10']);
  expect(calls.map(({ path }) => path)).toEqual([
    '/v1/invoices/in_2',
    '/v1/invoices/in_2/lines?limit=100',
    '/v1/invoices/in_2/lines?limit=100&starting_after=il_in_2_5',
    '/v1/invoices/in_2/lines?limit=100&starting_after=il_in_2_11',
  ]);
});

test('what Stripe’s API tells of an invoice replaces what its notification said, whichever was taken first', async () => {
  const { sent, access } = cut([...CHANGES, RENEWED]);
  const [told] = factsOf(stripe, sent.body);
  const [asked] = await api.ask!(access, 'invoice/in_2');
  expect([replaces(asked!, told!), replaces(told!, asked!)]).toEqual([true, false]);
});

test('a period that is taken to be as long as the one before has as many months, or else as many days', () => {
  const until = (start: string, end: string) => {
    const { sent } = cut([...CHANGES, RENEWED]);
    Object.assign(sent.body.data.object, { period_start: toSeconds(start), period_end: toSeconds(end) });
    const [paidFact] = factsOf(stripe, sent.body);
    return paidFact?.kind === 'paid' && paidFact.covers && 'untilMs' in paidFact.covers
      ? isoDate(paidFact.covers.untilMs)
      : null;
  };
  expect(until('2027-12-10', '2028-01-10')).toBe('2028-02-10');
  expect(until('2027-12-27', '2028-01-10')).toBe('2028-01-24');
  expect(until('2028-01-10', '2028-01-10')).toBeNull();
});

test('a renewal of more than ten prices leaves none of their licenses behind, even before the rest is known', async () => {
  const plans = Object.fromEntries(
    Array.from({ length: 12 }, (_, i) => [`price_${i + 10}`, `plan-${i + 10}`]),
  );
  const linesOf = (from: string, to: string) =>
    Object.keys(plans).map((price) => ({ price, amount: 900, from, to }));
  const first = paid('in_1', '2027-01-10', 'subscription_create', linesOf('2027-01-10', '2028-01-10'));
  const renewal = cut(linesOf('2028-01-10', '2029-01-10'));
  const whole = Object.values(plans)
    .map((plan) => `${plan} ×1 to 2029-01-10`)
    .join(', ');
  expect(sold(stripe, [first, renewal.sent], plans)).toEqual([whole]);
  const bought = cut(linesOf('2027-01-10', '2029-01-10'), 'subscription_create');
  const asked = await api.ask!(bought.access, 'invoice/in_2');
  expect(sold(stripe, [bought.sent], plans, asked)).toEqual([whole]);
});

test('the refund of a payment that an older notification names is found after the API has told the rest', async () => {
  const { sent, access } = cut([...CHANGES, RENEWED]);
  const older = structuredClone(sent);
  Object.assign(older.body.data.object, { charge: 'ch_2', payment_intent: 'pi_2' });
  const refund = {
    body: event('charge.refunded', {
      id: 'ch_2',
      payment_intent: 'pi_2',
      amount: 9_000,
      amount_refunded: 9_000,
      refunded: true,
    }),
  };
  const asked = await api.ask!(access, 'invoice/in_2');
  expect(sold(stripe, [FIRST, older, refund], PLANS, asked)).toEqual(['pro ×1 to 2028-01-10']);
});

test('a cart of more than ten prices is read as a whole', async () => {
  const items = Array.from({ length: 12 }, (_, i) => ({
    id: `li_${i}`,
    quantity: 1,
    price: { id: `price_${i}` },
  }));
  const sessionPath = '/v1/checkout/sessions/cs_1';
  const { access } = openApi('rk_live_x', {
    [`${sessionPath}?expand%5B%5D=line_items`]: {
      ...session({ id: 'cs_1', createdAt: '2027-01-10T12:00:00Z' }),
      line_items: { data: items.slice(0, 10), has_more: true },
    },
    [`${sessionPath}/line_items?limit=100`]: { data: items, has_more: false },
  });
  const [ordered] = await api.ask!(access, 'session/cs_1');
  expect(ordered).toMatchObject({ kind: 'ordered', lines: { length: 12 } });
});
