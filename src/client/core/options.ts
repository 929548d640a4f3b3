import type { CallInput } from '../../shared/rules/verdict.ts';
import type { Fetch, LicenseOptions, LicenseState, PinnedKeys, Store } from './types.ts';

/** What differs by platform, and what tests replace. */
export interface Runtime {
  setTimer(run: () => void, ms: number): Timer;
  clearTimer(timer: Timer): void;
  /** Returns a number from 0 to 1. */
  random(): number;
  platform: string | undefined;
  machine: LicenseState['machine'];
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
  machine: 'given',
};

/** Resolves as the promise does, or rejects after the time. */
export const within = async <T>(runtime: Runtime, ms: number, promise: Promise<T>): Promise<T> => {
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = runtime.setTimer(() => reject(new Error('late')), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    if (timer) runtime.clearTimer(timer);
  }
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

const PATTERNS = {
  apiKey: /^[!-~]+$/,
  product: /^.{1,64}$/,
  appVersion: /^.{1,60}$/,
  releaseDate: /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/,
  fingerprint: /^[!-~]{8,256}$/,
  heartbeat: /^(auto|off)$/,
};

/** Checks the options. Throws a TypeError that says what to pass, and never what was passed. */
export const readOptions = (options: LicenseOptions): ClientSettings => {
  const { apiKey, keys, product, appVersion, releaseDate, fingerprint, heartbeat } = options;
  const { store = NO_STORE, now = Date.now } = options;
  // Called as a plain function, because browsers refuse `fetch` as a method of another object.
  const { fetch: send = (url, init) => fetch(url, init) } = options;
  const baseUrl = readBaseUrl(options.baseUrl);
  for (const [name, pattern] of Object.entries(PATTERNS)) {
    const value = options[name as keyof typeof PATTERNS];
    const isAbsent = value === undefined && name !== 'apiKey';
    check(isAbsent || (typeof value === 'string' && pattern.test(value)), `${name} must match ${pattern}`);
  }
  check(isPinnedKeys(keys), 'keys must be what `npm run latchkey -- keys pull` writes.');
  const isStore = typeof store.get === 'function' && typeof store.set === 'function';
  check(isStore && /^(function|undefined)$/.test(typeof store.lock), 'store must have get() and set().');
  check(typeof send === 'function', 'fetch must be a function.');
  check(typeof now === 'function', 'now must be a function.');
  check(globalThis.crypto?.subtle, 'crypto.subtle is missing: use https.');
  return {
    baseUrl,
    apiKey,
    keys,
    application: { fingerprint, product, app_version: appVersion, release_date: releaseDate },
    store,
    fetch: send,
    now,
    hasHeartbeat: heartbeat !== 'off',
  };
};
