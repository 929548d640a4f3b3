import { expect, test } from 'vitest';
import { stripe } from '../../src/stores/provider/stripe.ts';
import { event, invoice, session } from './bodies/stripe.ts';
import { listAll, openApi } from './module.ts';

const SOLD_AT = '2027-01-10T12:00:00Z';
const BILLED = { createdAt: SOLD_AT, endsAt: '2027-02-10T12:00:00Z' };
const SOLD = session({ id: 'cs_1', intent: 'pi_1', link: 'plink_1', createdAt: SOLD_AT });
const api = stripe.api!;

test('Stripe’s list of events finds what never came, with those of which nobody was notified', async () => {
  const first = event('invoice.paid', invoice({ ...BILLED, id: 'in_2' }));
  const pages = [
    { data: [event('invoice.paid', invoice({ ...BILLED, id: 'in_3' })), first], has_more: true },
    {
      data: [event('invoice.paid', {}), event('invoice.paid', invoice({ ...BILLED, id: 'in_1' }))],
      has_more: false,
    },
  ];
  const { access, calls } = openApi('rk_live_x', {
    '/v1/events?': (path: string) => pages[path.includes(`starting_after=${first.id}`) ? 1 : 0],
  });
  const { facts } = await listAll(stripe, access, Date.parse(SOLD_AT));
  expect(facts.map(({ about }) => about)).toEqual(['invoice/in_3', 'invoice/in_2', 'invoice/in_1']);
  expect(calls[0]?.path).toMatch('created%5Bgte%5D=1799582400');
  expect(calls[0]?.headers).toMatchObject({ authorization: 'Bearer rk_live_x' });
});

test('the line items of a session tell its prices and how many', async () => {
  const items = [{ quantity: 3, price: { id: 'price_1', product: 'prod_1' } }];
  const answer = { ...SOLD, line_items: { data: items } };
  const askedOf = async (object: object) => {
    const { access } = openApi('rk_live_x', { '/v1/checkout/sessions/cs_1?expand%5B%5D=line_items': object });
    return api.ask!(access, 'session/cs_1');
  };
  expect(await askedOf(answer)).toMatchObject([
    { kind: 'ordered', version: 1, lines: [{ refs: ['plink_1', 'price_1', 'prod_1'], quantity: 3 }] },
    { kind: 'paid', as: ['intent/pi_1'] },
  ]);
  // A link stands for all that it sells, and without one each item is a line.
  const two = [...items, { quantity: 1, price: { id: 'price_2', product: 'prod_2' } }];
  expect((await askedOf({ ...SOLD, line_items: { data: two } }))[0]).toMatchObject({
    lines: [{ refs: ['plink_1'], quantity: 1 }],
  });
  const bare = { ...SOLD, payment_link: null, livemode: false, line_items: { data: two } };
  expect((await askedOf(bare))[0]).toMatchObject({
    isTest: true,
    lines: [
      { refs: ['price_1', 'prod_1'], quantity: 3 },
      { refs: ['price_2', 'prod_2'], quantity: 1 },
    ],
  });
});

test('Stripe opens the customer’s own page', async () => {
  const url = 'https://billing.stripe.com/p/session/x';
  const { access, calls } = openApi('rk_live_x', { '/v1/billing_portal/sessions': { url } });
  expect(await api.storeLink!(access, ['invoice/in_1'], 'customer/cus_1')).toBe(url);
  expect(calls[0]?.form).toEqual({ customer: 'cus_1' });
  expect(await api.storeLink!(access, ['invoice/in_1'], null)).toBeNull();
});
