import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { parseApiKey } from '../../src/auth/api-key.ts';
import type { PresentedKey } from '../../src/shared/presented-key.ts';
import { readReply } from '../../src/gate/replies.ts';
import { signUp } from '../support/client.ts';

/** Another stub of the gate, as another isolate would hold it. */
const elsewhere = (apiKey: string) => {
  const key = parseApiKey(env.API_KEY_SECRET, apiKey) as PresentedKey;
  const stub = env.GATE.get(env.GATE.idFromName(key.accountId));
  return async (licenseKey: string) => {
    const reply = readReply(await stub.verify(key, licenseKey));
    return reply.refused ?? reply.verdict.status;
  };
};

test('once its deletion is answered a key is refused by the very next call, here and elsewhere', async () => {
  const ada = await signUp();
  const { license_key } = await ada.createLicense();
  const there = elsewhere(ada.apiKey);
  expect(await there(license_key)).toBe('active');
  const deleted = await ada.asSession('DELETE', `/api/api-keys/${ada.apiKeyId}`);
  expect(deleted.body).toEqual({ id: ada.apiKeyId, deleted: true });
  expect(await there(license_key)).toBe('api_key_invalid');
  expect((await ada.verify(license_key)).body.error.code).toBe('api_key_invalid');
  expect((await ada.asKey('GET', '/api/account')).body.error.code).toBe('api_key_invalid');
});

test('once a change of a license is answered no verify anywhere sees the old state', async () => {
  const ada = await signUp();
  const { id, license_key } = await ada.createLicense();
  const there = elsewhere(ada.apiKey);
  const change = (verb: string, body?: unknown) =>
    ada.asSession('POST', `/api/v1/licenses/${id}/${verb}`, body);

  for (const [verb, status] of [
    ['suspend', 'suspended'],
    ['reinstate', 'active'],
    ['suspend', 'suspended'],
    ['revoke', 'revoked'],
  ] as const) {
    expect((await change(verb)).body.status).toBe(status);
    expect(await there(license_key)).toBe(status);
    expect((await ada.verify(license_key)).body.status).toBe(status);
  }
});

test('under a storm of verifies not one that starts after the revocation’s answer is told active', async () => {
  const ada = await signUp();
  const { id, license_key } = await ada.createLicense();
  const there = elsewhere(ada.apiKey);
  let revoked = false;
  const late: string[] = [];
  const storm = Array.from({ length: 8 }, async () => {
    for (let i = 0; i < 40; i++) {
      const startedAfter = revoked;
      const status = await there(license_key);
      if (startedAfter) late.push(status);
    }
  });
  await ada.asSession('POST', `/api/v1/licenses/${id}/revoke`);
  revoked = true;
  await Promise.all(storm);
  expect(late).not.toContain('active');
  expect(await there(license_key)).not.toBe('active');
});

test('a key made is good at the very next call, and a renewed license at the very next verify', async () => {
  const ada = await signUp();
  const { id, license_key } = await ada.createLicense({ expires_at: new Date().toISOString().slice(0, 10) });
  const fresh = (await ada.asSession('POST', '/api/create-api-key', { scope: 'verify' })).body.api_key;
  expect((await ada.verify(license_key, fresh)).status).toBe(200);
  const renewed = await ada.asSession('POST', `/api/v1/licenses/${id}/renew`, { duration_days: 30 });
  expect((await ada.verify(license_key)).body.expires_at).toBe(renewed.body.expires_at);
});
