import type * as z from 'zod';
import type { ApplicationVerdict } from '../gate/rules/application-verdict.ts';
import type { SeatCall } from '../gate/rules/seats.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { isoTime, isoTimeOrNull } from '../shared/rules/dates.ts';
import { type Statement, toClaims } from '../tokens/claims.ts';
import { signToken } from '../tokens/jws.ts';
import { signingKeysOf } from '../tokens/keys.ts';
import type { applicationBody, ApplicationInput } from './schemas.ts';

const toStatement = (
  verdict: ApplicationVerdict,
  { fingerprint, nonce }: Pick<ApplicationInput, 'fingerprint' | 'nonce'>,
): Statement => ({
  kind: 'online',
  valid: verdict.valid,
  code: verdict.code,
  status: verdict.status,
  nonce: nonce ?? null,
  fingerprint: fingerprint ?? null,
  licenseKey: verdict.licenseKey,
  licenseId: verdict.licenseId,
  activationId: verdict.activation?.id ?? null,
  product: verdict.product,
  entitlements: verdict.entitlements,
  licenseEnds: verdict.expiresAt,
  updatesUntil: verdict.updatesUntil,
  offlineDays: verdict.offlineDays,
  leaseUntilMs: verdict.activation?.leaseUntilMs ?? null,
});

/** Signs a statement with the account's current key. */
export const sign = async (
  env: Env,
  origin: string,
  accountId: string,
  statement: Statement,
  nowMs: number,
): Promise<string> => {
  const [key] = await signingKeysOf(settingsOf(env).signingKeys, accountId);
  if (!key) throw new Error('SIGNING_KEYS is empty.');
  return signToken(key, toClaims(origin, accountId, statement, nowMs));
};

const canHaveToken = (call: SeatCall) => call !== 'deactivate';

export const canSign = (env: Env): boolean => {
  try {
    return settingsOf(env).signingKeys.length > 0;
  } catch {
    return false;
  }
};

/** Throws if a call's token couldn't be signed, so that the call neither counts nor takes a seat. */
export const requireSigningKeys = (env: Env, call: SeatCall): void => {
  // Reading them throws.
  if (canHaveToken(call)) void settingsOf(env).signingKeys;
};

interface Answered {
  verdict: ApplicationVerdict;
  apiUsage: number;
  apiLimit: number;
}

/** Returns the response to an application's call, with its token. */
export const answer = async (
  { env, origin, accountId }: { env: Env; origin: string; accountId: string },
  call: SeatCall,
  input: ApplicationInput,
  { verdict, apiUsage, apiLimit }: Answered,
): Promise<z.infer<typeof applicationBody>> => {
  const nowMs = Date.now();
  const { activation } = verdict;
  const hasToken = canHaveToken(call) && verdict.code !== 'verify_due';
  const token = hasToken ? await sign(env, origin, accountId, toStatement(verdict, input), nowMs) : null;
  return {
    valid: verdict.valid,
    status: verdict.status,
    expires_at: verdict.expiresAt,
    api_usage: apiUsage,
    api_limit: apiLimit,
    code: verdict.code,
    license_id: verdict.licenseId,
    product: verdict.product,
    entitlements: verdict.entitlements,
    updates_until: verdict.updatesUntil,
    server_time: isoTime(nowMs),
    activation: activation && {
      id: activation.id,
      name: activation.name,
      platform: activation.platform,
      activated_at: isoTime(activation.activatedAtMs),
      lease_until: isoTimeOrNull(activation.leaseUntilMs),
    },
    seats: verdict.seats,
    retry_at: isoTimeOrNull(verdict.retryAtMs),
    machines:
      verdict.machines?.map(({ lastSeenAtMs, ...machine }) => ({
        ...machine,
        last_seen_at: isoTime(lastSeenAtMs),
      })) ?? null,
    token,
  };
};
