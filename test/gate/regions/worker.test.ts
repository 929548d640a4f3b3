import { expect, test } from 'vitest';
import { signUp } from '../../support/client.ts';
import { setHome, verifyFrom } from '../../support/regions.ts';

test('an answer names the region of the account’s home, unless regions are off', async () => {
  const ada = await signUp();
  const { license_key } = await ada.createLicense();
  await setHome(ada.accountId, 'enam');
  const valid = { status: 200, body: { valid: true } };
  expect(await verifyFrom('oc', ada, license_key)).toMatchObject({ ...valid, region: 'enam' });
  expect(await verifyFrom('oc', ada, license_key, 'off')).toMatchObject({ ...valid, region: null });
});
