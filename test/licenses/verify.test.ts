import { expect, test } from 'vitest';
import { signUp } from '../support/client.ts';

test('a license made is a license verified', async () => {
  const ada = await signUp();
  const license = await ada.createLicense({ product: 'Orrery' });
  expect(license.license_key).toMatch(/^([0-9A-Z]{5}-){4}[0-9A-Z]{5}$/);
  const verdict = await ada.verify(license.license_key);
  expect(verdict.body).toEqual({
    valid: true,
    status: 'active',
    expires_at: null,
    api_usage: 1,
    api_limit: 1000,
  });
});
