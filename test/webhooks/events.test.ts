import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { signUp } from '../support/client.ts';
import { newReceiver } from '../support/receiver.ts';

test('creating and verifying a license sends webhooks that the Standard Webhooks library verifies', async () => {
  const ada = await signUp();
  const receiver = await newReceiver();
  const added = await ada.asSession('POST', '/api/webhooks', { url: receiver.url });
  expect(added.status).toBe(201);
  expect(added.body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);

  const license = await ada.createLicense({ customer_email: 'grace@example.com' });
  await receiver.receives(1);
  await ada.verify(license.license_key);
  const [created, verified] = await receiver.receives(2);

  const webhook = new Webhook(added.body.secret);
  expect(webhook.verify(created!.body, created!.headers)).toEqual({
    event: 'license.created',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    license_key: license.license_key,
    license_id: license.id,
    customer_email: 'grace@example.com',
  });
  expect(webhook.verify(verified!.body, verified!.headers)).toMatchObject({
    event: 'license.verified',
    license_key: license.license_key,
  });
  expect(created!.headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': expect.stringMatching(/^Latchkey-Webhooks\//),
    'webhook-id': expect.stringMatching(/^evt_/),
  });
});
