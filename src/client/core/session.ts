import type { Claims } from '../../shared/rules/tokens.ts';
import { openKeyRing } from './key-ring.ts';
import type { ClientSettings } from './options.ts';
import { EMPTY_RECORD, type LicenseRecord, mergeRecords, parseRecord } from './record.ts';
import { isSame, isSameVerdict, toState, storedVerdict, type KnownVerdict } from './state.ts';
import { checkTime, checkToken, type Expected, type TokenReason } from './token.ts';
import type { EntitlementValue, LicenseState } from './types.ts';

// What is known about the license: the record in the store, the verdicts that its tokens prove, and the state that
// follows from them and the time.

const CODES = {
  release: 'updates_ended',
  iat: 'clock_rolled_back',
  mark: 'clock_rolled_back',
  exp: 'offline_expired',
} as const;
/** Why an offline file is refused, in a code that the application knows. */
const FILE_CODES: Partial<Record<TokenReason, 'not_activated' | 'wrong_product'>> = {
  fp: 'not_activated',
  product: 'wrong_product',
};
/** Answers of calls that ran at the same time arrive within this time. */
const OVERLAP_SECONDS = 60;

/** A signed answer of the service. */
export interface Answer {
  verdict: KnownVerdict;
  token: string;
  chain: string[];
}

export type Session = ReturnType<typeof openSession>;

export const openSession = ({ store, now, keys, application }: ClientSettings) => {
  const ring = openKeyRing(keys);
  const listeners = new Set<(state: LicenseState) => void>();
  let record = EMPTY_RECORD;
  /** The last signed answer, or the stored token. */
  let verdict: KnownVerdict | null = null;
  let file: KnownVerdict | null = null;
  /** A license key that was passed to `activate` and hasn't become the stored one. */
  let candidate: string | null = null;
  let isLoaded = false;
  let hasAsked = false;
  let state = toState(null, 'loading');
  let queue = Promise.resolve(state);

  const check = (token: string, licenseKey: string | null, more: Pick<Expected, 'kind' | 'nonce'>) => {
    const { fingerprint = null, product } = application;
    return checkToken(token, ring, {
      account: keys.account,
      fingerprint,
      product,
      licenseKey: licenseKey ?? undefined,
      ...more,
    });
  };

  const readStored = async (token: string | null, licenseKey: string | null, kind: Claims['kind']) => {
    const claims = token === null ? null : await check(token, licenseKey, { kind });
    return claims && typeof claims !== 'string' && claims.valid ? storedVerdict(claims) : null;
  };

  const timeNow = () => now() + record.offsetMs;

  /** A token may be of an earlier release, or of a call without the release date. */
  const isCovered = ({ updates_until: until }: Claims) =>
    !until || !application.release_date || application.release_date <= until;

  const whyEnded = ({ claims, endMs }: KnownVerdict) =>
    isCovered(claims) ? checkTime(claims, { nowMs: timeNow(), markMs: record.markMs, endMs }) : 'release';

  const decide = (): LicenseState => {
    if (verdict && !verdict.claims.valid) return toState(verdict);
    let ended: LicenseState | null = null;
    for (const known of [verdict, file]) {
      if (!known) continue;
      const reason = whyEnded(known);
      if (!reason) return toState(known);
      ended ??= toState(known, CODES[reason]);
    }
    if (ended) return ended;
    const asked = hasAsked ? 'inconclusive' : 'loading';
    const unreleased = isLoaded && (candidate ?? record.licenseKey) === null ? 'key_missing' : asked;
    return toState(null, record.isReleased ? 'deactivated' : unreleased);
  };

  /** Brings the state up to date with the time, and tells the listeners about a change. */
  const settle = (): LicenseState => {
    const next = decide();
    record = { ...record, markMs: Math.max(record.markMs, timeNow()) };
    if (isSame(next, state)) return state;
    const isRenewed = isSameVerdict(next, state);
    state = next;
    if (isRenewed) return state;
    for (const listener of listeners) {
      try {
        listener(next);
      } catch (error) {
        console.error(error);
      }
    }
    return state;
  };

  /** Takes over what another process has stored. Returns the text that is in the store, if it can be read. */
  const adopt = async (): Promise<string | null | undefined> => {
    const stored = await (async () => store.get())().catch(() => undefined);
    const last = record;
    record = mergeRecords(record, parseRecord(stored ?? null));
    const { licenseKey, token, file: fileToken } = record;
    if (token === last.token && fileToken === last.file && licenseKey === last.licenseKey) return stored;
    await ring.follow(record.chain);
    const next = await readStored(token, licenseKey, 'online');
    // With `offline_days: 0`, the token of another process is never good here, but the own verdict may be.
    verdict = next && next.claims.exp <= next.claims.iat ? (verdict ?? next) : next;
    file = await readStored(fileToken, licenseKey, 'offline');
    return stored;
  };

  /** Reads the store, applies the change, and writes the store. One update runs at a time. */
  const update = (change?: (current: LicenseRecord) => LicenseRecord): Promise<LicenseState> => {
    const run = async () => {
      const stored = await adopt();
      if (change) record = change(record);
      isLoaded = true;
      settle();
      const text = JSON.stringify(record);
      // A store that can't be read now may have a good token. Without a store that works, the verdict lasts as long as
      // the process.
      if (text !== stored && (change || stored !== undefined))
        await (async () => store.set(text))().catch(() => {});
      return state;
    };
    const runAlone = () => store.lock?.(run) ?? run();
    queue = queue.then(runAlone, runAlone);
    return queue;
  };

  return {
    ring,
    check,
    update,
    settle,
    timeNow,
    chain: () => record.chain,
    /** The license key that verifies and heartbeats are made with. */
    licenseKey: () => (record.isReleased ? null : record.licenseKey),
    /** The license key that was passed last, or is stored. */
    proposed: () => candidate ?? record.licenseKey,
    /** Whether the license key, perhaps in another spelling, is the stored one. */
    isStoredKey: async (licenseKey: string, answer: Answer | null): Promise<boolean> =>
      licenseKey === record.licenseKey ||
      (answer !== null &&
        record.licenseKey !== null &&
        typeof (await check(answer.token, record.licenseKey, {})) !== 'string'),

    /** When the verdict ends by itself, in the machine's time. */
    endsAt: () => Number((state.valid && state.offlineUntil) || Infinity) - record.offsetMs,

    entitlement: (name: string): EntitlementValue | undefined => {
      const { valid, entitlements } = settle();
      return valid && Object.hasOwn(entitlements, name) ? entitlements[name] : undefined;
    },

    listen: (listener: (state: LicenseState) => void) => {
      // Each call has its own entry, even with the same function.
      const entry = (next: LicenseState) => listener(next);
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },

    propose: (licenseKey: string) => {
      candidate = licenseKey;
    },

    /** No answer said anything about the license. */
    note: (): LicenseState => {
      hasAsked = true;
      return settle();
    },

    /** Applies a signed answer about a license key, unless another process has stored something newer. */
    take: async ({ verdict: next, token, chain }: Answer, licenseKey: string, isActivation: boolean) => {
      const { iat, valid } = next.claims;
      const receivedMs = now();
      const keepsFile = valid && (await readStored(record.file, licenseKey, 'offline')) !== null;
      return update((current) => {
        const late = current.answeredAt - iat;
        const isOvertaken = late > 0 && late < OVERLAP_SECONDS;
        if (!isActivation && (isOvertaken || current.licenseKey !== licenseKey)) return current;
        verdict = next;
        if (isActivation) candidate = null;
        if (!keepsFile) file = null;
        return {
          licenseKey,
          token: valid ? token : null,
          file: keepsFile ? current.file : null,
          isReleased: false,
          answeredAt: iat,
          offsetMs: iat * 1_000 - receivedMs,
          // A fresh answer proves the time, so it also ends a rollback.
          markMs: iat * 1_000,
          chain,
        };
      });
    },

    /** Shows a refusal of a license key that isn't stored. */
    show: (next: KnownVerdict): LicenseState => {
      verdict = next;
      return settle();
    },

    /** Takes an offline file, or returns a state that says why it isn't good. */
    loadFile: async (token: string): Promise<LicenseState> => {
      await update();
      const claims = await check(token, record.licenseKey, { kind: 'offline' });
      if (typeof claims === 'string') return toState(null, FILE_CODES[claims] ?? 'inconclusive');
      const next = storedVerdict(claims);
      const reason = whyEnded(next);
      if (reason || !next.claims.valid) return toState(next, reason ? CODES[reason] : undefined);
      return update((current) => {
        if (verdict?.claims.valid === false) verdict = null;
        file = next;
        return { ...current, file: token };
      });
    },

    release: () =>
      update((current) => {
        verdict = null;
        file = null;
        candidate = null;
        return { ...current, token: null, file: null, isReleased: true, answeredAt: current.answeredAt + 1 };
      }),
  };
};
