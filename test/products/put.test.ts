import { expect, test } from 'vitest';
import { openShop } from '../stores/shop.ts';
import { useFakeClock } from '../support/fake-clock.ts';

test.for(['product', 'offer'])(
  'of several PUTs in one millisecond, only one has created the %s',
  async (kind) => {
    useFakeClock();
    const { ada, storeId } = await openShop();
    const path = kind === 'product' ? '/api/v1/products/new' : `/api/stores/${storeId}/offers/new`;
    const body = kind === 'product' ? { name: 'New' } : { product: 'mill', grant: 'perpetual' };
    const put = () => ada.asSession('PUT', path, body);
    const answers = await Promise.all([put(), put(), put()]);
    answers.push(await put());
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 200, 201]);
  },
);
