import { expect, test } from 'vitest';
import { callInput, isPlainCall } from '../../src/activations/schemas.ts';

test('a body that is read without its schema is one that the schema leaves as it is', () => {
  const plain = { license_key: '7K3QD-9WZXA' };
  const others = [
    null,
    'license_key',
    [],
    ['7K3QD-9WZXA'],
    {},
    { license_key: '' },
    { license_key: null },
    { license_key: ['7K3QD-9WZXA'] },
    { name: 'Ada' },
    { ...plain, fingerprint: null },
    { ...plain, unknown: 1 },
    JSON.parse('{"license_key":"7K3QD-9WZXA","__proto__":{}}'),
  ];
  expect([plain, ...others].filter(isPlainCall)).toEqual([plain]);
  expect(callInput.parse(plain)).toEqual(plain);
});
