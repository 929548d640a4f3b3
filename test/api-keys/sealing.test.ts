import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import worker from '../../src/index.ts';
import { type Json, ORIGIN, signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { sellerWithLicense } from '../support/worlds.ts';

const SECOND_KEY = `k2:${btoa('a-second-sealing-key-of-32-bytes')}`;
const ROTATED_KEYS = `${SECOND_KEY},${env.SEALING_KEYS}`;

/** Calls the Worker with another ring of sealing keys. */
const callWith = async (keyRing: string, apiKey: string, method: string, path: string, sent?: object) => {
  const ctx = createExecutionContext();
  const request = new Request(ORIGIN + path, {
    method,
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    ...(sent && { body: JSON.stringify(sent) }),
  });
  const response = await worker.fetch(request, { ...env, SEALING_KEYS: keyRing }, ctx);
  await waitOnExecutionContext(ctx);
  return { status: response.status, body: (await response.json()) as Json };
};

const sealedOf = (id: string) =>
  accountsD1.prepare('SELECT sealed FROM api_keys WHERE id = ?').bind(id).first<string>('sealed');

test('after the sealing keys rotate, old API keys still reveal and verify, and new API keys use the new sealing key', async () => {
  const { ada, license } = await sellerWithLicense();
  const reveal = (keyRing: string, id: string) => callWith(keyRing, ada.apiKey, 'GET', `/api/api-keys/${id}`);
  expect(await sealedOf(ada.apiKeyId)).toMatch(/^k1\./);

  expect((await reveal(ROTATED_KEYS, ada.apiKeyId)).body.api_key).toBe(ada.apiKey);
  const created = await callWith(ROTATED_KEYS, ada.apiKey, 'POST', '/api/create-api-key', { name: 'after' });
  expect(created.status).toBe(201);
  const { id, api_key: newKey } = created.body;
  expect(await sealedOf(id)).toMatch(/^k2\./);
  expect(await sealedOf(ada.apiKeyId)).toMatch(/^k1\./);
  expect((await reveal(ROTATED_KEYS, id)).body.api_key).toBe(newKey);
  for (const apiKey of [ada.apiKey, newKey]) {
    const sent = { license_key: license.license_key };
    const verdict = await callWith(ROTATED_KEYS, apiKey, 'POST', '/api/v1/licenses/verify', sent);
    expect(verdict.body.valid).toBe(true);
  }

  // An API key whose sealing key is gone can't be revealed, but it still verifies.
  expect((await reveal(SECOND_KEY, ada.apiKeyId)).status).toBe(500);
  expect((await reveal(SECOND_KEY, id)).body.api_key).toBe(newKey);
  expect((await ada.verify(license.license_key)).body.valid).toBe(true);
  const wrongKey = `k1:${SECOND_KEY.slice(3)}`;
  expect((await reveal(wrongKey, ada.apiKeyId)).status).toBe(500);
});

test('a sealed API key does not unseal in another row or under another sealing key name', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  const { body: second } = await ada.asSession('POST', '/api/create-api-key', {});
  const sealed = await sealedOf(ada.apiKeyId);
  const setSealed = (id: string, sealed: string | null | undefined) =>
    accountsD1.prepare('UPDATE api_keys SET sealed = ? WHERE id = ?').bind(sealed, id).run();
  const status = async (id: string) => (await ada.asSession('GET', `/api/api-keys/${id}`)).status;

  await setSealed(second.id, sealed);
  expect(await status(second.id)).toBe(500);
  await setSealed(bob.apiKeyId, sealed);
  expect((await bob.asSession('GET', `/api/api-keys/${bob.apiKeyId}`)).status).toBe(500);
  expect((await ada.asSession('GET', `/api/api-keys/${ada.apiKeyId}`)).body.api_key).toBe(ada.apiKey);

  const renamed = `k3:${env.SEALING_KEYS.slice('k1:'.length)},${env.SEALING_KEYS}`;
  await setSealed(ada.apiKeyId, sealed?.replace(/^k1/, 'k3'));
  const path = `/api/api-keys/${ada.apiKeyId}`;
  expect((await callWith(renamed, ada.apiKey, 'GET', path)).status).toBe(500);
  await setSealed(ada.apiKeyId, sealed);
  expect((await callWith(renamed, ada.apiKey, 'GET', path)).body.api_key).toBe(ada.apiKey);
});

test('every sealed API key has its own nonce', async () => {
  const ada = await signUp();
  const sealedStarts = new Set<string | null>();
  for (let i = 0; i < 5; i++) {
    const { body } = await ada.asSession('POST', '/api/create-api-key', {});
    const sealed = await sealedOf(body.id);
    sealedStarts.add(sealed?.slice(0, 19) ?? null);
  }
  expect(sealedStarts.size).toBe(5);
});
