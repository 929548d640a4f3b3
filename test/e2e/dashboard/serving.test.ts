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

  test('an unknown path answers 404 in JSON unless a browser requests a page', async () => {
    const { status, body } = await service.get('/no/such/page');
    expect([status, body]).toMatchObject([404, { error: { code: 'not_found' } }]);
    expect((await service.get('/api/nope', { accept: 'text/html' })).status).toBe(404);
  });
});
