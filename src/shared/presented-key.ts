/** An API key whose tag is valid. Only the account's gate can tell whether the key exists. */
export interface PresentedKey {
  readonly accountId: string;
  readonly keyId: string;
  readonly fingerprint: string;
}
