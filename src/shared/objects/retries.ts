import { retryable } from 'cloudflare:durable-objects';

type Methods<T> = { [K in keyof T]: T[K] extends (...args: never[]) => unknown ? K : never }[keyof T];

/**
 * Lets the platform repeat calls of these methods of a Durable Object after a disconnect, when it can't know whether the
 * first call has run. A repeat must have the same result as a single call.
 */
export const allowRetries = <T extends object>(prototype: T, names: Methods<T>[]): void => {
  retryable(...names.map((name) => prototype[name] as () => unknown));
};
