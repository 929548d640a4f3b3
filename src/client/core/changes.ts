import type { Claims } from '../../shared/rules/tokens.ts';
import { type Holding, NOTHING, timeOf } from './holding.ts';
import type { LicenseRecord } from './record.ts';
import type { Change } from './storage.ts';
import { type KnownVerdict, storedVerdict } from './verdicts.ts';

// What an answer, an offline file, and the user change in what is held. Pure, because an update that another process has
// crossed applies its change again.

/** Answers of calls that ran at the same time arrive within this time. */
const OVERLAP_SECONDS = 60;

/** A signed answer of the service. */
export interface Answer {
  verdict: KnownVerdict;
  token: string;
}

/** When the stored key became another one, or got a seat again, in the record and in truth. */
export interface Switched {
  answeredAt: number;
  iat: number;
}

interface Circumstances {
  isActivation: boolean;
  switched: Switched;
  ownMs: number;
  releaseDate?: string | undefined;
}

/** So many seats that have to be given back are remembered. */
const MAX_LEAVING = 9;

/** The license keys whose seats have to be given back. No key has a comma, and one alone is what earlier versions store. */
export const leavingIn = ({ leaving }: LicenseRecord): string[] => leaving?.split(',') ?? [];

/** What the record says of them next: also the key that is left, and not the one whose seat is kept or free. */
const leavingWith = (record: LicenseRecord, left: string | null, done: string | null): string | null => {
  const keys = [...new Set([...leavingIn(record), left])].filter((key) => key && key !== done);
  return keys.slice(-MAX_LEAVING).join() || null;
};

/** The key of the record is left once another license has taken its place. */
const replaced = (record: LicenseRecord, next: string | null) =>
  leavingWith(record, record.isReleased ? null : record.licenseKey, next);

/** Takes an answer about a license key, unless another process has stored something newer. */
export const answered = (
  { verdict, token }: Answer,
  licenseKey: string,
  { isActivation, switched, ownMs, releaseDate }: Circumstances,
): Change => {
  const { iat, valid, code, lk } = verdict.claims;
  return (current) => {
    const { record } = current;
    const late = (record.answeredAt === switched.answeredAt ? switched.iat : record.answeredAt) - iat;
    const isOvertaken = late > 0 && late < OVERLAP_SECONDS;
    const isAnew = record.licenseKey !== licenseKey || record.isReleased;
    if (!isActivation && (isOvertaken || isAnew)) return current;
    // A token that doesn't cover this release is kept for earlier releases, which may share the store.
    const isKept = (held: KnownVerdict | null) =>
      held?.claims.lk === lk && (valid || timeOf(held, record, releaseDate, ownMs) === code);
    const file = isKept(current.file) ? current.file : null;
    // What another process has of the earlier key, or of the seat that was given back, doesn't bring that back.
    const answeredAt = isAnew ? Math.max(iat, record.answeredAt + 1) : iat;
    if (isAnew) Object.assign(switched, { answeredAt, iat });
    return {
      verdict,
      file,
      record: {
        ...record,
        licenseKey,
        token: valid ? token : isKept(current.verdict) ? record.token : null,
        file: file && record.file,
        leaving: replaced(record, licenseKey),
        isReleased: false,
        answeredAt,
        offsetMs: iat * 1_000 - ownMs,
        // A fresh answer proves the time, so it also ends a rollback.
        markMs: iat * 1_000,
      },
    };
  };
};

/** What was signed later than all that was seen proves that the clock was ahead before. */
export const renewMark = (record: LicenseRecord, { iat }: Claims): LicenseRecord =>
  iat > record.answeredAt ? { ...record, answeredAt: iat, markMs: iat * 1_000 } : record;

/** Takes an offline file: of the license that is held, or of another one in its place. */
export const filed =
  (token: string, claims: Claims, isOther: boolean): Change =>
  ({ record, verdict }) => ({
    verdict: isOther || verdict?.claims.valid === false ? null : verdict,
    file: storedVerdict(claims),
    record: {
      ...renewMark(record, claims),
      file: token,
      ...(isOther && {
        leaving: replaced(record, null),
        licenseKey: null,
        token: null,
        isReleased: false,
      }),
    },
  });

/** Drops the tokens. What is left is newer than the answers to calls in progress. */
export const dropped =
  (more?: Partial<LicenseRecord>): Change =>
  ({ record }): Holding => ({
    ...NOTHING,
    record: {
      ...record,
      token: null,
      file: null,
      isReleased: true,
      answeredAt: record.answeredAt + 1,
      ...more,
    },
  });

/** The seat of a license key that was replaced has been given back. */
export const left =
  (licenseKey: string): Change =>
  ({ record, ...rest }) => ({
    ...rest,
    record: { ...record, leaving: leavingWith(record, null, licenseKey) },
  });
