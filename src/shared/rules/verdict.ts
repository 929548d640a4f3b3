import { LICENSE_STATES } from './licenses.ts';
import type { EntitlementValue } from './terms.ts';

// What an application asks, and what it is told. The gate judges in these names, and the API's bodies, the claims of tokens
// and the client's state are picked from them.

export const CALL_NAMES = ['verify', 'activate', 'heartbeat', 'deactivate'] as const;
export type CallName = (typeof CALL_NAMES)[number];

/** What an application says in each of the four calls. */
export interface CallInput {
  license_key: string;
  /** Names the machine. */
  fingerprint?: string | undefined;
  name?: string | undefined;
  platform?: string | undefined;
  app_version?: string | undefined;
  /** The product that the application belongs to. */
  product?: string | undefined;
  /** The day on which the application's version was released. */
  release_date?: string | undefined;
  lease_seconds?: number | undefined;
  /** The id of the machine whose seat this machine takes over. */
  replace?: string | undefined;
}

/** The order of the judgment: a verdict has the first code that fits. */
export const VERDICT_CODES = [
  'not_found',
  'revoked',
  'suspended',
  'expired',
  'wrong_product',
  'updates_ended',
  'fingerprint_required',
  'verify_due',
  'not_activated',
  'no_seat',
  'transfer_limit',
  'deactivated',
  'valid',
] as const;
export type VerdictCode = (typeof VERDICT_CODES)[number];

export const VERDICT_STATUSES = [...LICENSE_STATES, 'not_found'] as const;

/** The verdict on a license without terms, if the application says nothing but its key. */
export interface PlainVerdict {
  valid: boolean;
  status: (typeof VERDICT_STATUSES)[number];
  /** The license's last day. */
  expires_at: string | null;
}

/** What a machine is called. */
export interface MachineName {
  id: string;
  name: string | null;
  platform: string | null;
}

/** The verdict on a license and a machine. */
export interface Verdict extends PlainVerdict {
  /** `valid` is true exactly if the code is. */
  code: VerdictCode;
  /** As stored or, if there is no such license, as presented. Only the token says it, as a hash. */
  license_key: string;
  license_id: string | null;
  product: string | null;
  entitlements: Record<string, EntitlementValue>;
  updates_until: string | null;
  /** The last day of grace after `expires_at`, if there is any. An older gate doesn't say it. */
  grace_until?: string | null;
  /** How long the token is good without contact. */
  offline_days: number;
  /** The machine, if it holds a seat. */
  activation: (MachineName & { activated_at: string; lease_until: string | null }) | null;
  /** Null if the number of seats isn't limited. */
  seats: { used: number; limit: number } | null;
  /** When a seat may become free. Null unless waiting helps. */
  retry_at: string | null;
  /** The machines that hold the seats, for an application that may replace one. */
  machines: (MachineName & { last_seen_at: string })[] | null;
}
