import { afterEach, expect, test, vi } from 'vitest';
import { useFakeClock } from '../../support/fake-clock.ts';
import type { StripeObject } from '../../support/stripe-objects.ts';
import {
  notify,
  putPrice,
  ref,
  setTax,
  signUpWithStripe,
  stripeEnv,
  stripeRequests,
} from '../../support/stripe.ts';

afterEach(() => setTax('pending'));

test('with STRIPE_PRICES the plans cost what the prices at Stripe say', async () => {
  const [pro, scale] = [ref('price'), ref('price')];
  await putPrice(pro, 2_500);
  await putPrice(scale, 17_500);
  const environment = stripeEnv({ STRIPE_PRICES: `pro:${pro},scale:${scale}` });
  const ada = await signUpWithStripe();
  const { body } = await ada.callApi('POST', '/api/init-payment', { plan: 'pro' }, environment);
  expect(body).toMatchObject({ amount: 2_500, currency: 'eur' });
  const [request] = (await stripeRequests(ada.accountId)).filter(({ form }) => form['mode']);
  expect(request?.form).toMatchObject({ 'line_items[0][price]': pro });
  expect((await ada.callApi('GET', '/api/billing', {}, environment)).body.plans).toMatchObject([
    { plan: 'free', amount: 0, currency: 'eur' },
    { plan: 'pro', amount: 2_500, currency: 'eur' },
    { plan: 'scale', amount: 17_500, currency: 'eur' },
  ]);
});

test('a plan that was changed at Stripe is the plan here', async () => {
  const [pro, scale] = [ref('price'), ref('price')];
  const environment = stripeEnv({ STRIPE_PRICES: `pro:${pro},scale:${scale}` });
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe('pro');
  const { items } = await atStripe.put();
  const [item] = (items as { data: StripeObject[] }).data;
  const changed = await atStripe.put({ items: { data: [{ ...item, price: { id: scale } }] } });
  await notify('customer.subscription.updated', changed, { environment });
  expect(await ada.apiLimit()).toBe(5_000_000);
  expect((await ada.callApi('GET', '/api/billing')).body.subscription.plan).toBe('scale');
});

test('a checkout computes taxes where that is switched on at Stripe', async () => {
  await setTax('active');
  const ada = await signUpWithStripe();
  await ada.begin('pro');
  const [request] = (await stripeRequests(ada.accountId)).filter(({ form }) => form['mode']);
  expect(request?.form).toMatchObject({
    'automatic_tax[enabled]': 'true',
    'tax_id_collection[enabled]': 'true',
  });
});

test('while Stripe doesn’t answer, the plans cost what it said last, and it is not asked with each call', async () => {
  useFakeClock(Date.UTC(2027, 0, 10, 12));
  const [pro, scale] = [ref('price'), ref('price')];
  await putPrice(pro, 2_500);
  await putPrice(scale, 17_500);
  const prices = { STRIPE_PRICES: `pro:${pro},scale:${scale}` };
  const ada = await signUpWithStripe();
  const amounts = async (changes: Partial<Env> = {}) => {
    const environment = stripeEnv({ ...prices, ...changes });
    const { body } = await ada.callApi('GET', '/api/billing', {}, environment);
    return (body.plans as StripeObject[]).map(({ amount }) => amount);
  };
  const asked = async () => (await stripeRequests(pro)).filter(({ method }) => method === 'GET').length;
  expect(await amounts()).toEqual([0, 2_500, 17_500]);
  vi.setSystemTime(Date.now() + 11 * 60_000);
  expect(await amounts({ STRIPE_API_BASE: 'http://127.0.0.1:9' })).toEqual([0, 2_500, 17_500]);
  expect(await amounts()).toEqual([0, 2_500, 17_500]);
  expect(await asked()).toBe(1);
  vi.setSystemTime(Date.now() + 11_000);
  await amounts();
  expect(await asked()).toBe(2);
});
