import type { Result, Router } from 'hono/router';
import { TrieRouter } from 'hono/router/trie-router';
import { getPath } from 'hono/utils/url';

const HAS_PARAMETERS = /[:*]/;

/**
 * Hono's trie router with a cache for paths without parameters. Without the cache, matching verify's path would be a
 * tenth of the cost of rejecting a forged key. (Hono's RegExpRouter can't combine `/verify` and `/:id`.)
 */
export const createCachingRouter = <T>(): Router<T> => {
  const trie = new TrieRouter<T>();
  const fixedPaths = new Set<string>();
  /** Keyed by method and path. It stays small, because the runtime accepts only a few dozen methods. */
  const cache = new Map<string, Result<T>>();

  return {
    name: 'CachingRouter',

    add: (method, path, handler) => {
      trie.add(method, path, handler);
      if (!HAS_PARAMETERS.test(path)) fixedPaths.add(path);
    },

    match: (method, path) => {
      if (!fixedPaths.has(path)) return trie.match(method, path);
      const key = `${method} ${path}`;
      const cached = cache.get(key);
      if (cached) return cached;
      const result = trie.match(method, path);
      cache.set(key, result);
      return result;
    },
  };
};

const UNTIDY = /\/\/|.\/$/;

/** Returns the path of a URL as the routes spell it. A base URL that ends in a slash, joined with a path, has two. */
export const tidyPath = (request: Request): string => {
  const path = getPath(request);
  return UNTIDY.test(path) ? path.replaceAll(/\/{2,}/g, '/').replace(/(.)\/$/, '$1') : path;
};
