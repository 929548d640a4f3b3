import { settingsOf } from '../shared/config/settings.ts';
import { isoTime } from '../shared/rules/dates.ts';
import type { CallName, Verdict, VerdictCode } from '../shared/rules/verdict.ts';
import { type Proof, type SignedVerdict, toClaims } from '../tokens/claims.ts';
import { signToken } from '../tokens/jws.ts';
import { signingKeysOf } from '../tokens/keys.ts';
import type { SentCall } from './schemas.ts';

interface Caller {
  env: Env;
  /** The service's address. */
  origin: string;
  accountId: string;
}

/** Signs a verdict with the account's current key. */
export const sign = async (
  { env, origin, accountId }: Caller,
  verdict: SignedVerdict,
  proof: Proof,
  nowMs: number,
): Promise<string> => {
  const [key] = await signingKeysOf(settingsOf(env).signingKeys, accountId);
  if (!key) throw new Error('SIGNING_KEYS is empty.');
  return signToken(key, toClaims(origin, accountId, verdict, proof, nowMs));
};

const canHaveToken = (call: CallName) => call !== 'deactivate';

export const canSign = (env: Env): boolean => {
  try {
    return settingsOf(env).signingKeys.length > 0;
  } catch {
    return false;
  }
};

/** Throws if a call's token couldn't be signed, so that the call neither counts nor takes a seat. */
export const requireSigningKeys = (env: Env, call: CallName): void => {
  // Reading them throws.
  if (canHaveToken(call)) void settingsOf(env).signingKeys;
};

/** Leaving is free, so it tells a machine nothing of the license, not even whether there is one. */
const DEACTIVATED = {
  valid: false,
  status: null,
  expires_at: null,
  license_id: null,
  product: null,
  entitlements: null,
  updates_until: null,
  grace_until: null,
  activation: null,
  seats: null,
  retry_at: null,
  machines: null,
} as const;

const toLeaving = (code: VerdictCode) => (code === 'not_found' ? 'deactivated' : code);

/** Signs a verdict at a time. */
type Signer = (verdict: SignedVerdict, proof: Proof, nowMs: number) => Promise<string>;

/** Returns the response to an application's call, with its token. */
export const answer = async (
  sign: Signer,
  call: CallName,
  { fingerprint = null, nonce = null }: Pick<SentCall, 'fingerprint' | 'nonce'>,
  verdict: Verdict,
  usage: { api_usage: number; api_limit: number },
  nowMs: number,
) => {
  const told = call === 'deactivate' ? { ...DEACTIVATED, code: toLeaving(verdict.code) } : verdict;
  const { valid, status, expires_at, code, license_id, product, entitlements, updates_until } = told;
  const { grace_until = null, activation, seats, retry_at, machines } = told;
  const token =
    canHaveToken(call) && code !== 'verify_due'
      ? await sign({ ...verdict, code }, { kind: 'online', fingerprint, nonce }, nowMs)
      : null;
  return {
    valid,
    status,
    expires_at,
    ...usage,
    code,
    license_id,
    product,
    entitlements,
    updates_until,
    grace_until,
    server_time: isoTime(nowMs),
    activation,
    seats,
    retry_at,
    machines,
    token,
  };
};
