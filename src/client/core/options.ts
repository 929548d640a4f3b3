import type { CallInput } from '../../shared/rules/verdict.ts';
import type { Fetch, LicenseOptions, PinnedKeys, Store } from './types.ts';

/** What differs by platform, and what tests replace. */
export interface Runtime {
  setTimer(run: () => void, ms: number): Timer;
  clearTimer(timer: Timer): void;
  /** Returns a number from 0 to 1. */
  random(): number;
  platform: string | undefined;
}

/** In Node, a timer that is unref'd doesn't keep the process alive. */
export interface Timer {
  unref?(): unknown;
}

export const DEFAULT_RUNTIME: Runtime = {
  setTimer: (run, ms) => setTimeout(run, ms) as unknown as Timer,
  clearTimer: (timer) => clearTimeout(timer as unknown as number),
  random: Math.random,
  platform: undefined,
};

export interface ClientSettings {
  baseUrl: string;
  apiKey: string;
  keys: PinnedKeys;
  /** The fields that every call has. */
  application: Pick<CallInput, 'fingerprint' | 'product' | 'app_version' | 'release_date'>;
  store: Store;
  fetch: Fetch;
  now: () => number;
  hasHeartbeat: boolean;
}

export const check: (condition: unknown, message: string) => asserts condition = (condition, message) => {
  if (!condition) throw new TypeError(message);
};

/** Without a store, the verdict lasts as long as the process. */
const NO_STORE: Store = { get: async () => null, set: async () => {} };

const readBaseUrl = (baseUrl: string): string => {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  check(url && /^https?:$/.test(url.protocol), 'baseUrl must be like https://example.com.');
  return url.origin + url.pathname.replace(/\/(api\/v1\/?)?$/, '');
};

const isPinnedKeys = (pinned: Partial<PinnedKeys> | undefined) =>
  pinned?.account && pinned.keys?.some?.(({ crv, x, kid }) => crv === 'Ed25519' && x && kid);

const fits = (value: unknown, pattern: RegExp) =>
  value === undefined || (typeof value === 'string' && pattern.test(value));

/** Checks the options. Throws a TypeError that says what to pass, and never what was passed. */
export const readOptions = (options: LicenseOptions): ClientSettings => {
  const { apiKey, keys, product, appVersion, releaseDate, store, fingerprint, heartbeat = 'auto' } = options;
  const baseUrl = readBaseUrl(options.baseUrl);
  check(apiKey && fits(apiKey, /^[!-~]+$/), 'apiKey must be a string.');
  check(isPinnedKeys(keys), 'keys must be what `latchkey keys pull` writes.');
  check(fits(product, /^.{1,64}$/), 'product must be a product’s code.');
  check(fits(appVersion, /^.{1,60}$/), 'appVersion is too long.');
  check(fits(releaseDate, /^\d{4}-\d\d-\d\d$/), 'releaseDate must be like 2026-11-22.');
  check(fits(fingerprint, /^[!-~]{8,256}$/), 'fingerprint must be 8 to 256 visible ASCII characters.');
  check(fits(heartbeat, /^(auto|off)$/), 'heartbeat must be auto or off.');
  check(globalThis.crypto?.subtle, 'crypto.subtle is missing: use https.');
  return {
    baseUrl,
    apiKey,
    keys,
    application: { fingerprint, product, app_version: appVersion, release_date: releaseDate },
    store: store ?? NO_STORE,
    // Called as a plain function, because browsers refuse `fetch` as a method of another object.
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    now: options.now ?? Date.now,
    hasHeartbeat: heartbeat === 'auto',
  };
};
