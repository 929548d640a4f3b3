import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { newWebhookSecret, signatureHeaders } from '../../src/webhooks/signing.ts';

const NOW_SECONDS = Math.floor(Date.now() / 1_000);
const PAYLOAD = '{"event":"license.verified","customer_name":"Zoë 💣"}';

const verify = (secret: string, headers: Record<string, string>, payload = PAYLOAD): unknown => {
  try {
    return new Webhook(secret).verify(payload, headers);
  } catch (error) {
    return String(error);
  }
};

test('signing the Standard Webhooks test vector gives the published signature', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
  const payload = '{"test": 2432232314}';
  const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
  expect(signatureHeaders([secret], { id, timestampSeconds: 1_614_265_330, payload })).toEqual({
    'webhook-id': id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': signature,
  });
  expect(new Webhook(secret).sign(id, new Date(1_614_265_330_000), payload)).toBe(signature);
});

test('the standardwebhooks library accepts a signed request and rejects any change to it', () => {
  const secret = newWebhookSecret();
  const headers = signatureHeaders([secret], {
    id: 'evt_1',
    timestampSeconds: NOW_SECONDS,
    payload: PAYLOAD,
  });
  expect(verify(secret, headers)).toEqual(JSON.parse(PAYLOAD));
  const mismatch = expect.stringContaining('No matching signature');
  expect(verify(secret, headers, `${PAYLOAD} `)).toEqual(mismatch);
  expect(verify(secret, { ...headers, 'webhook-id': 'evt_2' })).toEqual(mismatch);
  expect(verify(secret, { ...headers, 'webhook-timestamp': String(NOW_SECONDS - 1) })).toEqual(mismatch);
  expect(verify(newWebhookSecret(), headers)).toEqual(mismatch);
});

test('during a rotation the signature header verifies with either secret', () => {
  const [current, old] = [newWebhookSecret(), newWebhookSecret()];
  const headers = signatureHeaders([current, old], {
    id: 'evt_1',
    timestampSeconds: NOW_SECONDS,
    payload: PAYLOAD,
  });
  expect(headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
  expect(verify(current, headers)).toEqual(JSON.parse(PAYLOAD));
  expect(verify(old, headers)).toEqual(JSON.parse(PAYLOAD));
});

test('every new secret is unique and has 256 bits', () => {
  const secrets = new Set(Array.from({ length: 100 }, newWebhookSecret));
  expect(secrets.size).toBe(100);
  for (const secret of secrets) expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
});
