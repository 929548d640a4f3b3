/** An API key whose tag is valid. Only the account's gate can tell whether the key exists. */
export interface ParsedKey {
  readonly accountId: string;
  readonly keyId: string;
  readonly fingerprint: string;
}

/** The API key of a call. */
export interface PresentedKey extends ParsedKey {
  /** The caller's address. Null if it isn't known, and absent from a Worker of the release before. */
  readonly ip?: string | null;
}
