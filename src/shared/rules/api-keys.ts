/** A key with scope `verify` can only make the four calls of an application, so that it can ship inside one. */
export const KEY_SCOPES = ['full', 'verify'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

export const MAX_KEY_NAME_LENGTH = 100;

/** The most API keys that an account has, without those that are deleted or expired. */
export const MAX_API_KEYS = 100;

/** How long a rotated key goes on working, beside the key that replaces it. */
export const DEFAULT_OVERLAP_HOURS = 24;
export const MAX_OVERLAP_HOURS = 168;

/** An API key whose tag is valid. Only the account's gate can tell whether the key exists. */
export interface ParsedKey {
  readonly accountId: string;
  readonly keyId: string;
  readonly fingerprint: string;
}

/** The API key of a call. */
export interface PresentedKey extends ParsedKey {
  /** The caller's address. Null if it isn't known. */
  readonly ip: string | null;
}
