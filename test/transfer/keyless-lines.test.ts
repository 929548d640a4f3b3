import { expect, test } from 'vitest';
import { parseLine } from '../../src/transfer/schemas.ts';

// The key of a line without one follows from this text. If it changed, a file that is sent again would create its licenses
// twice.
test('a line is read into the same text in every release', () => {
  const line = parseLine({
    created_at: '2024-06-01',
    terms: { max_activations: 3 },
    updates_until: null,
    metadata: { order: '1001' },
    expires_at: '2030-01-31',
    product: 'Orrery',
    customer_name: 'Grace Hopper',
    customer_email: 'grace@example.com',
  });
  const customer = '"customer_email":"grace@example.com","customer_name":"Grace Hopper","product":"Orrery"';
  const rights = '"metadata":{"order":"1001"},"terms":{"max_activations":3},"updates_until":null';
  expect('value' in line && JSON.stringify(line.value)).toBe(
    `{${customer},"expires_at":"2030-01-31",${rights},"created_at":1717200000000}`,
  );
});
