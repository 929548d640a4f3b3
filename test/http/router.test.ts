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
const ASKED = [
  '/licenses/verify',
  '/licenses/create',
  '/licenses/7',
  '/licenses/8',
  '/licenses/7/renew',
  '/',
];

test('a path is answered by the routes that Hono’s own router finds for it, however often it is asked for', () => {
  const plain = new TrieRouter<string>();
  const caching = createCachingRouter<string>();
  for (const [method, path] of ROUTES) {
    plain.add(method, path, `${method} ${path}`);
    caching.add(method, path, `${method} ${path}`);
  }
  for (let round = 0; round < 2; round++) {
    for (const path of ASKED) {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        expect(caching.match(method, path)).toEqual(plain.match(method, path));
      }
    }
  }
  expect(caching.match('GET', '/licenses/7')).not.toEqual(caching.match('GET', '/licenses/8'));
  expect(caching.match('POST', '/licenses/verify')).toBe(caching.match('POST', '/licenses/verify'));
});
