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

/** Resolves as the promise does, or with undefined after the time or once the signal is aborted. */
export const within = <T>(
  runtime: Runtime,
  ms: number,
  promise?: Promise<T>,
  signal?: AbortSignal,
): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    const end = () => {
      runtime.clearTimer(timer);
      signal?.removeEventListener('abort', end);
      resolve(undefined);
    };
    const timer = runtime.setTimer(end, ms);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
    promise?.then(resolve, reject).finally(end);
  });

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

export const check: (condition: unknown, name: string, rule: string) => asserts condition = (
  condition,
  name,
  rule,
) => {
  if (!condition) throw new TypeError(`${name} must be ${rule}.`);
};

export const checkType = (type: 'function' | 'string', values: Record<string, unknown>): void => {
  for (const [name, value] of Object.entries(values)) check(typeof value === type, name, `a ${type}`);
};

/** Without a store, the verdict lasts as long as the process. */
const NO_STORE: Store = { get: async () => null, set: async () => {} };

const readBaseUrl = (baseUrl: string): string => {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  check(url && /^https?:$/.test(url.protocol), 'baseUrl', 'like https://example.com');
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
    check(isAbsent || (typeof value === 'string' && pattern.test(value)), name, `like ${pattern}`);
  }
  check(isPinnedKeys(keys), 'keys', 'what `npm run latchkey -- keys pull` writes');
  const { get, set, lock = now } = store as unknown as Record<string, unknown>;
  checkType('function', { fetch: send, now, 'store.get': get, 'store.set': set, 'store.lock': lock });
  check(globalThis.crypto?.subtle, 'The page', 'of https, for crypto.subtle');
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
