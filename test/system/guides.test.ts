import { env, exports } from 'cloudflare:workers';
import { beforeAll, describe, expect, test } from 'vitest';
import { call, ORIGIN } from '../support/client.ts';

const fetchPath = (path: string, init: RequestInit = {}) =>
  exports.default.fetch(new Request(ORIGIN + path, { redirect: 'manual', ...init }));

const get = async (path: string) => {
  const response = await fetchPath(path);
  return { status: response.status, headers: response.headers, text: await response.text() };
};

const linksIn = (html: string): string[] =>
  [...html.matchAll(/<(?:a|link|img|script)\b[^>]*?\s(?:href|src)="([^"]+)"/g)].map(([, link = '']) =>
    link.replaceAll('&amp;', '&'),
  );

const isGuide = (path: string) => /^\/docs(?:\/[\w/-]+)?$/.test(path);
const GUIDES: Record<string, string> = {};

/** Opens a page, and every page that it leads to. */
const open = async (path: string): Promise<void> => {
  const { status, text } = await get(path);
  expect([path, status]).toEqual([path, 200]);
  GUIDES[path] = text;
  for (const link of linksIn(text)) {
    const { origin, pathname } = new URL(link, ORIGIN + path);
    if (origin === ORIGIN && isGuide(pathname) && !(pathname in GUIDES)) await open(pathname);
  }
};

beforeAll(() => open('/docs'));

const textAt = async (path: string) => (await env.ASSETS.fetch(new URL(path, ORIGIN))).text();

test('the guides have every page that llms.txt lists, and llms.txt lists every page', async () => {
  const listed = [...(await textAt('/llms.txt')).matchAll(/\]\((\/docs\/[^)]+)\.md\)/g)];
  const paths = listed.map(([, path = '']) => (path === '/docs/index' ? '/docs' : path));
  expect(paths.toSorted()).toEqual(Object.keys(GUIDES).toSorted());
  expect(paths.length).toBeGreaterThan(25);
});

test('every page has a title and a heading of its own, a description, and its place in the navigation', () => {
  const titles = Object.entries(GUIDES).map(([path, html]) => {
    const [, title = ''] = /<title>(.+) · Latchkey<\/title>/.exec(html) ?? [];
    expect([path, html.match(/<h1\b/g)?.length]).toEqual([path, 1]);
    expect(html).toMatch(/<meta name="description" content="[^"]{10,}"/);
    expect(html).toContain(`href="${path}" aria-current="page"`);
    expect(html).not.toMatch(/\[\[(?:title|description|markdown|navigation|contents?|neighbors)\]\]/);
    return title;
  });
  expect(titles.filter((title) => title === '')).toEqual([]);
  expect(titles.filter((title, i) => titles.indexOf(title) !== i)).toEqual([]);
});

test('no link and no anchor of the guides is broken', async () => {
  const broken: string[] = [];
  const others = new Set<string>();
  for (const [path, html] of Object.entries(GUIDES)) {
    const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect([path, ids.filter((id, i) => ids.indexOf(id) !== i)]).toEqual([path, []]);
    for (const link of linksIn(html)) {
      const { origin, pathname, hash } = new URL(link, ORIGIN + path);
      if (origin !== ORIGIN) continue;
      const target = GUIDES[pathname];
      if (target === undefined) others.add(pathname);
      else if (hash !== '' && !target.includes(` id="${decodeURIComponent(hash.slice(1))}"`))
        broken.push(`${path}: ${link}`);
    }
  }
  for (const path of others) {
    const isAsset = /^\/(?:assets\/|favicon|theme)/.test(path);
    const { status } = isAsset ? await env.ASSETS.fetch(new URL(path, ORIGIN)) : await fetchPath(path);
    if (status !== 200) broken.push(`${path} answers ${status}`);
  }
  expect(broken).toEqual([]);
});

test('the Markdown of every page leads to Markdown', async () => {
  for (const path of Object.keys(GUIDES)) {
    const { status, headers, text } = await get(path === '/docs' ? '/docs/index.md' : `${path}.md`);
    expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/markdown; charset=utf-8']);
    expect(text).toMatch(/^# /);
    const code = /^(```|~~~).*?^\1$|`[^`\n]*`/gms;
    const links = [...text.replace(code, '').matchAll(/\]\(([^)\s]+)/g)].map(([, link = '']) => link);
    const wrong = links.filter(
      (link) => !/^(?:#|[a-z]+:|\/docs\/[\w/-]+\.md(?:#|$)|\/docs\/pictures\/|\/openapi\.json$)/.test(link),
    );
    expect([path, wrong]).toEqual([path, []]);
  }
});

describe('a page', () => {
  test('has the headers of a file that only its own host serves, with GET and HEAD', async () => {
    for (const path of [
      '/docs',
      '/docs/tokens',
      '/docs/api/licenses',
      '/docs/tokens.md',
      '/docs/search.json',
    ]) {
      const { status, headers, text } = await get(path);
      const head = await fetchPath(path, { method: 'HEAD' });
      expect([path, status, head.status, await head.text()]).toEqual([path, 200, 200, '']);
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self';/,
      );
      expect(headers.get('content-security-policy')).not.toMatch(/unsafe|\*|https?:/);
      expect(headers.get('cache-control')).toBe('public, max-age=0, must-revalidate');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(text.length).toBeGreaterThan(100);
      for (const name of ['content-type', 'content-security-policy', 'cache-control', 'etag'])
        expect([path, name, head.headers.get(name)]).toEqual([path, name, headers.get(name)]);
    }
  });

  test('is not sent again to who has it', async () => {
    const { headers } = await get('/docs/tokens');
    const again = await fetchPath('/docs/tokens', {
      headers: { 'if-none-match': headers.get('etag') ?? '' },
    });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  test('has no script and no style of its own, and needs no session', () => {
    for (const html of Object.values(GUIDES))
      expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|<[^>]*\s(?:style=|on\w+=")/);
  });

  test('that does not exist answers 404 in JSON', async () => {
    for (const path of ['/docs/nope', '/docs/nope.md', '/docs/api/nope']) {
      const { status, body } = await call('GET', path);
      expect([path, status, body.error.code]).toEqual([path, 404, 'not_found']);
    }
  });
});

test('the search knows every page and every call', async () => {
  const entries: { a: string; t: string }[] = JSON.parse((await get('/docs/search.json')).text);
  const found = new Set(entries.map(({ a }) => a.split('#')[0] ?? ''));
  expect([...found].toSorted()).toEqual(Object.keys(GUIDES).toSorted());
  expect(entries.map(({ t }) => t)).toContain('Verify a license');
  for (const { a } of entries) {
    const [path = '', anchor] = a.split('#');
    expect([a, GUIDES[path]?.includes(anchor === undefined ? '' : ` id="${anchor}"`)]).toEqual([a, true]);
  }
});

test('the reference begins with the four calls of an application', () => {
  const html = GUIDES['/docs/api/applications'] ?? '';
  const calls = [...html.matchAll(/<code>(?:GET|POST) (\/api\/v1\/licenses\/[^<]+)<\/code><\/p>/g)];
  expect(calls.slice(0, 4).map(([, path]) => path)).toEqual(
    ['verify', 'activate', 'heartbeat', 'deactivate'].map((name) => `/api/v1/licenses/${name}`),
  );
});
