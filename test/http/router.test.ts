import { TrieRouter } from 'hono/router/trie-router';
import { expect, test } from 'vitest';
import { createCachingRouter } from '../../src/http/router.ts';

const ROUTES: [method: string, path: string][] = [
  ['ALL', '*'],
  ['ALL', '/licenses/verify'],
  ['POST', '/licenses/verify'],
  ['POST', '/licenses/create'],
  ['GET', '/licenses/:id'],
  ['POST', '/licenses/:id/renew'],
];
const PATHS = [
  '/licenses/verify',
  '/licenses/create',
  '/licenses/7',
  '/licenses/8',
  '/licenses/7/renew',
  '/',
];

test('the caching router returns the same routes as Hono’s own router, on the first match and from its cache', () => {
  const trie = new TrieRouter<string>();
  const caching = createCachingRouter<string>();
  for (const [method, path] of ROUTES) {
    trie.add(method, path, `${method} ${path}`);
    caching.add(method, path, `${method} ${path}`);
  }
  for (let round = 0; round < 2; round++) {
    for (const path of PATHS) {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        expect(caching.match(method, path)).toEqual(trie.match(method, path));
      }
    }
  }
  expect(caching.match('GET', '/licenses/7')).not.toEqual(caching.match('GET', '/licenses/8'));
  expect(caching.match('POST', '/licenses/verify')).toBe(caching.match('POST', '/licenses/verify'));
});
