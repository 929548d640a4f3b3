import { describe, expect, test } from 'vitest';
import { service } from '../support/dashboard.ts';

describe('the files of the dashboard', () => {
  test.for(['/', '/licenses', '/no/such/page'])(
    '%s has a Content-Security-Policy that allows only files of the dashboard',
    async (path) => {
      const { status, headers } = await service.get(path, { accept: 'text/html' });
      expect(status).toBe(200);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toMatch(/must-revalidate|no-cache/);
    },
  );

  test('a hashed file is cached for a year', async () => {
    const { text } = await service.get('/', { accept: 'text/html' });
    const [, script = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(text) ?? [];
    const { status, headers } = await service.get(script);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  });

  test.for(['/', '/?a=b', '/login', '/licenses', '/licenses/lic_1', '/settings/two-factor'])(
    '%s is the dashboard’s page for whoever asks, with GET and HEAD',
    async (path) => {
      const page = await service.get('/', { accept: 'text/html' });
      const answer = await service.get(path, { accept: '*/*' });
      expect([answer.status, answer.text]).toEqual([200, page.text]);
      const head = await fetch(service.origin + path, { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
      for (const name of ['content-type', 'content-security-policy', 'cache-control', 'etag'])
        expect([name, head.headers.get(name)]).toEqual([name, page.headers.get(name)]);
    },
  );

  test.for(['/no/such/page', '/licenses/a/b', '/v1/licenses', '/api/nope', '/operator/accounts'])(
    'the unknown path %s answers 404 in JSON unless a browser requests a page',
    async (path) => {
      const { status, body } = await service.get(path);
      expect([status, body]).toMatchObject([404, { error: { code: 'not_found' } }]);
      expect((await fetch(service.origin + path, { method: 'HEAD' })).status).toBe(404);
      const isPage = !/^\/(?:api|operator)\//.test(path);
      expect((await service.get(path, { accept: 'text/html' })).status).toBe(isPage ? 200 : 404);
    },
  );

  test('only GET and HEAD have pages', async () => {
    for (const path of ['/', '/licenses'])
      expect((await service.post(path, {}, { accept: 'text/html' })).status).toBe(405);
  });
});
