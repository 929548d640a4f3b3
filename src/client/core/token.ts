import type { Claims } from '../../shared/rules/tokens.ts';
import { isObject, type JsonObject, sha256 } from './bytes.ts';
import { type JwsReason, openJws } from './jws.ts';
import type { KeyRing } from './key-ring.ts';

const TOKEN_TYPE = 'latchkey+jwt';
const LICENSE_KEY_BYTES = 16;
/** How far clocks may differ. */
const LEEWAY_MS = 300_000;

/** Why a token is not good: the first check that fails, in the order of the checks. */
export type TokenReason =
  | JwsReason
  | 'aud'
  | 'fp'
  | 'lk'
  | 'product'
  | 'kind'
  | 'nonce'
  | 'iat'
  | 'exp'
  | 'mark';

/** What a token must say. A field that is undefined is not checked. */
export interface Expected {
  account: string;
  /** Null if the application has no fingerprint. */
  fingerprint?: string | null | undefined;
  licenseKey?: string | undefined;
  product?: string | undefined;
  kind?: Claims['kind'] | undefined;
  nonce?: string | undefined;
}

export type TokenResult = Claims | TokenReason;

/** The claim `lk` of each spelling under which the service may have stored a typed key: the text, or a generated key. */
const licenseKeyHashes = (typed: string): Promise<string[]> => {
  const plain = typed.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1');
  const spellings = [typed, plain.replace(/.{5}(?!$)/g, '$&-')];
  return Promise.all(spellings.map((key) => sha256(key, LICENSE_KEY_BYTES)));
};

const hasShape = (payload: JsonObject): boolean =>
  Number.isFinite(payload['iat']) &&
  Number.isFinite(payload['exp']) &&
  typeof payload['valid'] === 'boolean' &&
  isObject(payload['ent']);

/** A stored token without a fingerprint is good for a license whose seats aren't limited. An answer repeats what was sent. */
const isOfMachine = async (fp: unknown, fingerprint: string | null, isAnswer: boolean): Promise<boolean> =>
  fp === (fingerprint && (await sha256(fingerprint))) || (fp === null && !isAnswer);

/** Checks everything except the time. Returns the claims, or why the token isn't good. */
export const checkToken = async (
  token: string,
  ring: Pick<KeyRing, 'find'>,
  expected: Expected,
): Promise<TokenResult> => {
  const payload = await openJws(token, TOKEN_TYPE, ring.find);
  if (typeof payload === 'string') return payload;
  const { account, fingerprint, licenseKey, product, kind, nonce } = expected;
  if (payload['aud'] !== account) return 'aud';
  if (fingerprint !== undefined && !(await isOfMachine(payload['fp'], fingerprint, nonce !== undefined)))
    return 'fp';
  if (licenseKey !== undefined && !(await licenseKeyHashes(licenseKey)).includes(payload['lk'] as string))
    return 'lk';
  // A verdict that says no may be about another product: that is why it says no.
  if (product !== undefined && payload['valid'] === true && payload['product'] !== product) return 'product';
  if (kind !== undefined && payload['kind'] !== kind) return 'kind';
  if (nonce !== undefined && payload['nonce'] !== nonce) return 'nonce';
  return hasShape(payload) ? (payload as unknown as Claims) : 'malformed';
};

/** What the clock says, and what it has said. */
export interface Clock {
  /** The machine's own time. */
  ownMs: number;
  /** What has to be added to it, as the last answer showed. */
  offsetMs: number;
  /** The latest time that has counted. */
  markMs: number;
}

const whyNotAt = (nowMs: number, startMs: number, endMs: number, markMs: number) => {
  if (startMs > nowMs + LEEWAY_MS) return 'iat';
  if (nowMs >= endMs) return 'exp';
  return nowMs < markMs - LEEWAY_MS ? 'mark' : null;
};

/**
 * Returns why a stored token is not good now, or the time that counts. The corrected time goes first. If the clock has been
 * put right since the correction, the machine's own time is the one that lies between the mark and the end.
 */
export const checkTime = (
  { iat, exp }: Pick<Claims, 'iat' | 'exp'>,
  { ownMs, offsetMs, markMs }: Clock,
  endMs = exp * 1_000,
): 'iat' | 'exp' | 'mark' | number => {
  const why = (nowMs: number) => whyNotAt(nowMs, iat * 1_000, endMs, markMs);
  const reason = why(ownMs + offsetMs);
  if (!reason) return ownMs + offsetMs;
  return why(ownMs) ? reason : ownMs;
};
