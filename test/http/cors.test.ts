import { expect, test } from 'vitest';
import { call, signUp } from '../support/client.ts';
import { expectSecurityHeaders, isOpenToAnyOrigin, routes } from './security.ts';

test('only an application’s calls and public keys allow other origins, and only without credentials', async () => {
  const ada = await signUp();
  for (const { path, method } of routes) {
    const preflight = await call('OPTIONS', path.replace(/:[a-z_]+/g, 'x'), {
      headers: { origin: 'https://app.example', 'access-control-request-method': method },
    });
    expectSecurityHeaders(path, preflight);
    expect([path, preflight.status]).toEqual([path, isOpenToAnyOrigin(path) ? 204 : 405]);
  }
  const wrongMethod = await call('PUT', '/api/v1/licenses/verify');
  expectSecurityHeaders('/api/v1/licenses/verify', wrongMethod);
  expect([wrongMethod.status, wrongMethod.headers.get('allow')]).toEqual([405, 'POST']);

  const origin = 'https://app.example';
  const preflight = await call('OPTIONS', '/api/v1/licenses/verify', { headers: { origin } });
  const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(',');
  expect(allowed).toEqual(expect.arrayContaining(['content-type', 'x-api-key']));
  expect(preflight.headers.get('access-control-allow-methods')).toBe('POST');

  const verdict = await ada.asKey('POST', '/api/v1/licenses/verify', { license_key: 'AAAAAAAA' }, { origin });
  expectSecurityHeaders('/api/v1/licenses/verify', verdict);
  const exposed = verdict.headers.get('access-control-expose-headers') ?? '';
  for (const name of ['RateLimit', 'RateLimit-Policy', 'Retry-After']) expect(exposed).toContain(name);
});
