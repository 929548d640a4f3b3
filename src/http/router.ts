import type { Result, Router } from 'hono/router';
import { TrieRouter } from 'hono/router/trie-router';

const HAS_PARAMETERS = /[:*]/;

/**
 * Hono's trie router, with a cache for paths without parameters: matching verify's path again and again would
 * be a tenth of the cost of rejecting a forged key. (Hono's RegExpRouter can't combine `/verify` and `/:id`.)
 */
export const createCachingRouter = <T>(): Router<T> => {
  const trie = new TrieRouter<T>();
  const fixedPaths = new Set<string>();
  /** By method and path. The runtime accepts only a few dozen methods, so this stays small. */
  const results = new Map<string, Result<T>>();

  return {
    name: 'CachingRouter',

    add: (method, path, handler) => {
      trie.add(method, path, handler);
      if (!HAS_PARAMETERS.test(path)) fixedPaths.add(path);
    },

    match: (method, path) => {
      if (!fixedPaths.has(path)) return trie.match(method, path);
      const name = `${method} ${path}`;
      const cached = results.get(name);
      if (cached) return cached;
      const result = trie.match(method, path);
      results.set(name, result);
      return result;
    },
  };
};
