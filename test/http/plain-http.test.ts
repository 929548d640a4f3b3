import { exports } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { signUp } from '../support/client.ts';
import { recordStatements } from '../support/d1-queries.ts';

const send = (url: string, init: RequestInit = {}) =>
  exports.default.fetch(url, { redirect: 'manual', ...init });

test.for(['GET', 'HEAD'])('%s over plain http is redirected to the same URL over https', async (method) => {
  for (const path of ['/', '/health', '/api/account?a=b', '/licenses', '/no/such/path', '/docs']) {
    const response = await send(`http://latchkey.test${path}`, { method });
    expect([path, response.status]).toEqual([path, 301]);
    expect(response.headers.get('location')).toBe(`https://latchkey.test${path}`);
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
  }
  const withPort = await send('http://latchkey.test:8080/health', { method });
  expect(withPort.headers.get('location')).toBe('https://latchkey.test/health');
});

test.for(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
  '%s over plain http answers https_required before the credential is checked',
  async (method) => {
    const ada = await signUp();
    const verify = (apiKey: string) =>
      send('http://latchkey.test/api/v1/licenses/verify', { method, headers: { 'x-api-key': apiKey } });
    const { result, statements } = await recordStatements(() =>
      Promise.all([ada.apiKey, 'nonsense'].map(verify)),
    );
    expect(statements).toEqual([]);
    for (const response of result) {
      expect(response.status).toBe(403);
      expect(await response.json()).toEqual({
        error: {
          code: 'https_required',
          message: 'HTTPS Required',
          request_id: response.headers.get('x-request-id'),
        },
      });
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    }
  },
);

test.for(['localhost', 'localhost:8787', '127.0.0.1:8787', '127.1.2.3', '[::1]:8787'])(
  'plain http to %s is answered',
  async (host) => {
    expect((await send(`http://${host}/health`)).status).toBe(200);
    expect((await send(`http://${host}/api/logout`, { method: 'POST' })).status).toBe(401);
  },
);

test.for(['localhost.example.com', '127.0.0.1.example.com', '10.0.0.1', 'evil-localhost'])(
  '%s is no loopback host',
  async (host) => {
    expect((await send(`http://${host}/api/logout`, { method: 'POST' })).status).toBe(403);
  },
);
