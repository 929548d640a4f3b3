import { expect, test } from 'vitest';
import { openLicense } from '../support/activations.ts';

test('a product is only deleted once no license names it', async () => {
  const { customer, license } = await openLicense({});
  const inUse = await customer.asKey('DELETE', '/api/v1/products/orrery');
  expect([inUse.status, inUse.body.error.code]).toEqual([409, 'product_in_use']);
  await customer.asKey('PATCH', `/api/v1/licenses/${license.id}`, { product: null });
  expect((await customer.asKey('DELETE', '/api/v1/products/orrery')).body).toEqual({
    code: 'orrery',
    deleted: true,
  });
  expect((await customer.asKey('GET', '/api/v1/products/orrery')).status).toBe(404);
});
