import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { newWebhookSecret, signatureHeaders } from '../../src/webhooks/signing.ts';

const NOW_SECONDS = Math.floor(Date.now() / 1_000);
const PAYLOAD = '{"event":"license.verified","customer_name":"Zoë 💣"}';

const standard = (secret: string, headers: Record<string, string>, payload = PAYLOAD): unknown => {
  try {
    return new Webhook(secret).verify(payload, headers);
  } catch (error) {
    return String(error);
  }
};

test('the vector that Standard Webhooks publishes is signed byte for byte', () => {
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

test('what we sign is what the standard’s own library takes, and nothing changed is', () => {
  const secret = newWebhookSecret();
  const headers = signatureHeaders([secret], {
    id: 'evt_1',
    timestampSeconds: NOW_SECONDS,
    payload: PAYLOAD,
  });
  expect(standard(secret, headers)).toEqual(JSON.parse(PAYLOAD));
  const refused = expect.stringContaining('No matching signature');
  expect(standard(secret, headers, `${PAYLOAD} `)).toEqual(refused);
  expect(standard(secret, { ...headers, 'webhook-id': 'evt_2' })).toEqual(refused);
  expect(standard(secret, { ...headers, 'webhook-timestamp': String(NOW_SECONDS - 1) })).toEqual(refused);
  expect(standard(newWebhookSecret(), headers)).toEqual(refused);
});

test('in a rotation each of the two secrets verifies', () => {
  const [current, old] = [newWebhookSecret(), newWebhookSecret()];
  const headers = signatureHeaders([current, old], {
    id: 'evt_1',
    timestampSeconds: NOW_SECONDS,
    payload: PAYLOAD,
  });
  expect(headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
  for (const secret of [current, old]) expect(standard(secret, headers)).toEqual(JSON.parse(PAYLOAD));
});

test('every secret is new and has 256 random bits', () => {
  const secrets = new Set(Array.from({ length: 100 }, newWebhookSecret));
  expect(secrets.size).toBe(100);
  for (const secret of secrets) expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
});
