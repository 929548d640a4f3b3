import type { Claims } from '../../shared/rules/tokens.ts';
import { openKeyRing } from './key-ring.ts';
import type { ClientSettings } from './options.ts';
import { EMPTY_RECORD, type LicenseRecord } from './record.ts';
import { checkTime, checkToken, type Expected, type TokenResult } from './token.ts';
import type { LicenseCode } from './types.ts';
import { type KnownVerdict, storedVerdict } from './verdicts.ts';

// What the application holds, and what follows from it at a given time.

/** A record, and what its tokens prove. */
export interface Holding {
  record: LicenseRecord;
  /** The last signed answer, or the stored token. */
  verdict: KnownVerdict | null;
  file: KnownVerdict | null;
}

export const NOTHING: Holding = { record: EMPTY_RECORD, verdict: null, file: null };

/** Checks tokens as this application must. */
export const openChecks = ({ keys, application }: ClientSettings) => {
  const ring = openKeyRing(keys);
  const { fingerprint = null, product } = application;

  const check = (
    token: string,
    licenseKey: string | null,
    more: Pick<Expected, 'kind' | 'nonce'>,
  ): Promise<TokenResult> =>
    checkToken(token, ring, {
      account: keys.account,
      fingerprint,
      product,
      licenseKey: licenseKey ?? undefined,
      ...more,
    });

  const readStored = async (token: string | null, licenseKey: string | null, kind: Claims['kind']) => {
    const claims = token === null ? null : await check(token, licenseKey, { kind });
    return claims && typeof claims !== 'string' && claims.valid ? storedVerdict(claims) : null;
  };

  return {
    ring,
    check,
    /** Reads the tokens of a record. */
    hold: async (record: LicenseRecord): Promise<Holding> => {
      const { licenseKey, token, file: fileToken, chain } = record;
      await ring.follow(chain);
      const verdict = await readStored(token, licenseKey, 'online');
      const file = await readStored(fileToken, licenseKey, 'offline');
      const signedAt = [verdict, file].map((known) => known?.claims.iat ?? 0);
      return { record: { ...record, answeredAt: Math.max(record.answeredAt, ...signedAt) }, verdict, file };
    },
  };
};

export type Checks = ReturnType<typeof openChecks>;

/** Returns what to go on with, when another process may have written the store meanwhile: what was answered later. */
export const merge = (own: Holding, stored: Holding): Holding => {
  const { record } = stored;
  const markMs = Math.max(record.markMs, own.record.markMs);
  if (record.answeredAt < own.record.answeredAt) return own;
  const isOwn = record.token === own.record.token && record.licenseKey === own.record.licenseKey;
  const { verdict } = stored;
  // With `offline_days: 0`, the token of another process is never good here, but the own verdict may be.
  const isEmpty = verdict && verdict.claims.exp <= verdict.claims.iat && own.verdict;
  return {
    record: record.answeredAt === own.record.answeredAt ? { ...record, markMs } : record,
    verdict: isOwn || isEmpty ? own.verdict : verdict,
    file: stored.file,
  };
};

const CODES = {
  release: 'updates_ended',
  iat: 'clock_rolled_back',
  mark: 'clock_rolled_back',
  exp: 'offline_expired',
} as const;
const YEAR_MS = 366 * 86_400_000;

/** Returns the time at which a verdict is good, or the code that says why it isn't. */
export const timeOf = (
  { claims, endMs }: KnownVerdict,
  { offsetMs, markMs }: LicenseRecord,
  releaseDate: string | undefined,
  ownMs: number,
): number | LicenseCode => {
  if (!claims.valid) return claims.code;
  // A token may be of an earlier release, or of a call without the release date.
  const isCovered = !claims.updates_until || !releaseDate || releaseDate <= claims.updates_until;
  const time = isCovered ? checkTime(claims, { ownMs, offsetMs, markMs }, endMs) : 'release';
  return typeof time === 'string' ? CODES[time] : time;
};

/** What follows from a holding. */
export interface Conclusion {
  verdict: KnownVerdict;
  code: LicenseCode;
  /** The difference between the time that counts and the machine's own. */
  shiftMs: number;
  markMs: number;
}

/** Returns null if there is no verdict. */
export const conclude = (
  { record, verdict, file }: Holding,
  releaseDate: string | undefined,
  ownMs: number,
): Conclusion | null => {
  const { offsetMs } = record;
  let { markMs } = record;
  let first: Pick<Conclusion, 'verdict' | 'code'> | undefined;
  for (const known of [verdict, file]) {
    if (!known) continue;
    const time = timeOf(known, record, releaseDate, ownMs);
    if (typeof time === 'number')
      return { verdict: known, code: 'valid', shiftMs: time - ownMs, markMs: Math.max(markMs, time) };
    // Setting the clock back doesn't bring back what has ended. A clock that is years ahead proves nothing.
    const isOver = time === 'offline_expired' && ownMs + offsetMs < known.endMs + YEAR_MS;
    if (isOver) markMs = Math.max(markMs, known.endMs);
    first ??= { verdict: known, code: time };
    // A signed no counts for a file, too.
    if (!known.claims.valid) break;
  }
  return first ? { ...first, shiftMs: offsetMs, markMs } : null;
};
