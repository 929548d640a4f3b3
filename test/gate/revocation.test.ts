import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { parseApiKey } from '../../src/api-keys/api-key.ts';
import { readReply } from '../../src/gate/rules/calls.ts';
import type { PresentedKey } from '../../src/shared/rules/api-keys.ts';
import { sellerWithLicense } from '../support/worlds.ts';

/** Returns a verify through a separate stub of the gate, as another isolate would call it. */
const verifierElsewhere = (apiKey: string) => {
  const key = parseApiKey([env.API_KEY_SECRET], apiKey) as PresentedKey;
  const stub = env.GATE.get(env.GATE.idFromName(key.accountId));
  return async (licenseKey: string) => {
    const reply = readReply(await stub.verify(key, licenseKey, ''));
    return reply.refused ?? reply.verdict.status;
  };
};

test('after a deletion is answered, every isolate refuses the API key', async () => {
  const { ada, license_key } = await sellerWithLicense();
  const verifyElsewhere = verifierElsewhere(ada.apiKey);
  expect(await verifyElsewhere(license_key)).toBe('active');
  const deleted = await ada.asSession('DELETE', `/api/api-keys/${ada.apiKeyId}`);
  expect(deleted.body).toEqual({ id: ada.apiKeyId, deleted: true });
  expect(await verifyElsewhere(license_key)).toBe('api_key_invalid');
  expect((await ada.verify(license_key)).body.error.code).toBe('api_key_invalid');
  expect((await ada.asKey('GET', '/api/account')).body.error.code).toBe('api_key_invalid');
});

test('after a status change is answered, every isolate verifies the license with its new status', async () => {
  const { ada, id, license_key } = await sellerWithLicense();
  const verifyElsewhere = verifierElsewhere(ada.apiKey);
  for (const [action, status] of [
    ['suspend', 'suspended'],
    ['reinstate', 'active'],
    ['suspend', 'suspended'],
    ['revoke', 'revoked'],
  ] as const) {
    const { body } = await ada.asSession('POST', `/api/v1/licenses/${id}/${action}`);
    expect(body.status).toBe(status);
    expect(await verifyElsewhere(license_key)).toBe(status);
    expect((await ada.verify(license_key)).body.status).toBe(status);
  }
});

test('under load, no verify that starts after a revocation is answered returns active', async () => {
  const { ada, id, license_key } = await sellerWithLicense();
  const verifyElsewhere = verifierElsewhere(ada.apiKey);
  let isRevoked = false;
  const lateStatuses: string[] = [];
  const verifies = Array.from({ length: 8 }, async () => {
    for (let i = 0; i < 40; i++) {
      const startedAfter = isRevoked;
      const status = await verifyElsewhere(license_key);
      if (startedAfter) lateStatuses.push(status);
    }
  });
  await ada.asSession('POST', `/api/v1/licenses/${id}/revoke`);
  isRevoked = true;
  await Promise.all(verifies);
  expect(lateStatuses).not.toContain('active');
  expect(await verifyElsewhere(license_key)).not.toBe('active');
});

test('a new API key and a renewed license work on the next call', async () => {
  const { ada, id, license_key } = await sellerWithLicense({
    expires_at: new Date().toISOString().slice(0, 10),
  });
  const newKey = (await ada.asSession('POST', '/api/create-api-key', { scope: 'verify' })).body.api_key;
  expect((await ada.verify(license_key, newKey)).status).toBe(200);
  const renewed = await ada.asSession('POST', `/api/v1/licenses/${id}/renew`, { duration_days: 30 });
  expect((await ada.verify(license_key)).body.expires_at).toBe(renewed.body.expires_at);
});
