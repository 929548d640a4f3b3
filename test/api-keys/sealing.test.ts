import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import worker from '../../src/index.ts';
import { type Json, ORIGIN, signUp } from '../support/client.ts';

const K2 = `k2:${btoa('a-second-sealing-key-of-32-bytes')}`;
const BOTH = `${K2},${env.SEALING_KEYS}`;

/** A call to the Worker as it would be with another ring of sealing keys. */
const callWith = async (ring: string, apiKey: string, method: string, path: string, sent?: object) => {
  const ctx = createExecutionContext();
  const request = new Request(ORIGIN + path, {
    method,
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    ...(sent && { body: JSON.stringify(sent) }),
  });
  const response = await worker.fetch(request, { ...env, SEALING_KEYS: ring }, ctx);
  await waitOnExecutionContext(ctx);
  return { status: response.status, body: (await response.json()) as Json };
};

const sealedOf = (id: string) =>
  env.DB.prepare('SELECT sealed FROM api_keys WHERE id = ?').bind(id).first<string>('sealed');

test('the sealing keys are rotated: old keys still reveal and verify, new ones are sealed anew', async () => {
  const ada = await signUp();
  const license = await ada.createLicense();
  const reveal = (ring: string, id: string) => callWith(ring, ada.apiKey, 'GET', `/api/api-keys/${id}`);
  expect(await sealedOf(ada.apiKeyId)).toMatch(/^k1\./);

  expect((await reveal(BOTH, ada.apiKeyId)).body.api_key).toBe(ada.apiKey);
  const made = await callWith(BOTH, ada.apiKey, 'POST', '/api/create-api-key', { name: 'after' });
  expect(made.status).toBe(201);
  const { id, api_key: newKey } = made.body;
  expect(await sealedOf(id)).toMatch(/^k2\./);
  expect(await sealedOf(ada.apiKeyId)).toMatch(/^k1\./);
  expect((await reveal(BOTH, id)).body.api_key).toBe(newKey);
  for (const apiKey of [ada.apiKey, newKey]) {
    const sent = { license_key: license.license_key };
    const verdict = await callWith(BOTH, apiKey, 'POST', '/api/v1/licenses/verify', sent);
    expect(verdict.body.valid).toBe(true);
  }

  // Without the key that sealed it, a key can't be revealed; it verifies all the same.
  expect((await reveal(K2, ada.apiKeyId)).status).toBe(500);
  expect((await reveal(K2, id)).body.api_key).toBe(newKey);
  expect((await ada.verify(license.license_key)).body.valid).toBe(true);
  const swapped = `k1:${K2.slice(3)}`;
  expect((await reveal(swapped, ada.apiKeyId)).status).toBe(500);
});

test('a sealed key moved to another row does not open, nor under another name of its sealing key', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  const { body: second } = await ada.asSession('POST', '/api/create-api-key', {});
  const own = await sealedOf(ada.apiKeyId);
  const put = (id: string, sealed: string | null | undefined) =>
    env.DB.prepare('UPDATE api_keys SET sealed = ? WHERE id = ?').bind(sealed, id).run();
  const status = async (id: string) => (await ada.asSession('GET', `/api/api-keys/${id}`)).status;

  await put(second.id, own);
  expect(await status(second.id)).toBe(500);
  await put(bob.apiKeyId, own);
  expect((await bob.asSession('GET', `/api/api-keys/${bob.apiKeyId}`)).status).toBe(500);
  expect((await ada.asSession('GET', `/api/api-keys/${ada.apiKeyId}`)).body.api_key).toBe(ada.apiKey);

  const renamed = `k3:${env.SEALING_KEYS.slice('k1:'.length)},${env.SEALING_KEYS}`;
  await put(ada.apiKeyId, own?.replace(/^k1/, 'k3'));
  const path = `/api/api-keys/${ada.apiKeyId}`;
  expect((await callWith(renamed, ada.apiKey, 'GET', path)).status).toBe(500);
  await put(ada.apiKeyId, own);
  expect((await callWith(renamed, ada.apiKey, 'GET', path)).body.api_key).toBe(ada.apiKey);
});

test('two sealings of anything differ, so that equal secrets can’t be told', async () => {
  const ada = await signUp();
  const sealings = new Set<string | null>();
  for (let i = 0; i < 5; i++) {
    const { body } = await ada.asSession('POST', '/api/create-api-key', {});
    const sealed = await sealedOf(body.id);
    sealings.add(sealed?.slice(0, 19) ?? null);
  }
  expect(sealings.size).toBe(5);
});
