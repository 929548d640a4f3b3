// A customer whose account, keys and licenses are created through the API.
import { randomInt, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { verdictBody } from '../../../src/activations/schemas.ts';
import { revealedApiKeyBody } from '../../../src/api-keys/schemas.ts';
import { licenseBody } from '../../../src/licenses/schemas.ts';
import { productBody } from '../../../src/products/schemas.ts';
import { signedInBody } from '../../../src/sign-in/schemas.ts';
import { revealedWebhookBody } from '../../../src/webhooks/schemas.ts';
import type { VisitOptions } from './browser.ts';
import type { Client } from './service.ts';

export const PASSWORD = 'correct horse battery';

export const uniqueEmail = (name: string) => `${name}-${randomUUID().slice(0, 8)}@example.com`;

/** Files share a service, which lets one address register 60 accounts an hour. */
const freshAddress = () => `198.18.${randomInt(256)}.${randomInt(256)}`;

export const createAccount = async (service: Client, name: string) => {
  const email = uniqueEmail(name);
  const { body } = await service.post(
    '/api/register',
    { email, password: PASSWORD },
    { 'cf-connecting-ip': freshAddress() },
  );
  const { account, session } = signedInBody.parse(body);
  const sessionHeader = { authorization: `Bearer ${session.token}` };
  const send =
    (method: 'post' | 'put' | 'patch') =>
    async (path: string, input: unknown = {}) => {
      const response = await service[method](path, input, sessionHeader);
      expect(response.status, response.text).toBeLessThan(300);
      return response.body;
    };
  const post = send('post');
  return {
    email,
    accountId: account.id,
    token: session.token,
    post,
    put: send('put'),
    patch: send('patch'),
    addKey: async (input: object = {}) => revealedApiKeyBody.parse(await post('/api/create-api-key', input)),
    addLicense: async (input: object = {}) => licenseBody.parse(await post('/api/v1/licenses/create', input)),
    patchLicense: (id: string, input: object) => send('patch')(`/api/v1/licenses/${id}`, input),
    putProduct: async (code: string, input: object = {}) =>
      productBody.parse(await send('put')(`/api/v1/products/${code}`, input)),
    addWebhook: async (input: object) => revealedWebhookBody.parse(await post('/api/webhooks', input)),
    verify: (apiKey: string, licenseKey: string) =>
      service.post('/api/v1/licenses/verify', { license_key: licenseKey }, { 'x-api-key': apiKey }),
    activate: async (apiKey: string, licenseKey: string, machine: object) => {
      const input = { license_key: licenseKey, ...machine };
      const { body } = await service.post('/api/v1/licenses/activate', input, { 'x-api-key': apiKey });
      return verdictBody.parse(body);
    },
  };
};

export type Customer = Awaited<ReturnType<typeof createAccount>>;

/** The browser storage of a signed-in customer. */
export const storageStateOf = (
  origin: string,
  { accountId, token }: Pick<Customer, 'accountId' | 'token'>,
): VisitOptions['storageState'] => ({
  cookies: [
    {
      name: 'session',
      value: token,
      domain: new URL(origin).hostname,
      path: '/',
      expires: -1,
      httpOnly: true,
      secure: false,
      sameSite: 'Lax',
    },
  ],
  origins: [{ origin, localStorage: [{ name: 'latchkey.account', value: accountId }] }],
});
