import type { Result } from 'hono/router';
import { TrieRouter } from 'hono/router/trie-router';

const HAS_PLACES = /[:*]/;

/**
 * Hono's trie, which keeps what it finds for paths that are always the same: to look for verify's anew would
 * be a tenth of what a forged key costs. (Hono's faster router can't tell `/verify` from `/:id`.)
 */
export class RememberingRouter<T> extends TrieRouter<T> {
  readonly #fixedPaths = new Set<string>();
  /** By method, of which the runtime knows a few dozen, and path. */
  readonly #found = new Map<string, Result<T>>();

  override add(method: string, path: string, handler: T): void {
    super.add(method, path, handler);
    if (!HAS_PLACES.test(path)) this.#fixedPaths.add(path);
  }

  override match(method: string, path: string): Result<T> {
    if (!this.#fixedPaths.has(path)) return super.match(method, path);
    const name = `${method} ${path}`;
    const known = this.#found.get(name);
    if (known) return known;
    const found = super.match(method, path);
    this.#found.set(name, found);
    return found;
  }
}
