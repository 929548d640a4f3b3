/** Who signs in, and from where. */
export interface Client {
  /** For throttles. */
  ip: string;
  origin: string;
  userAgent: string | null;
  /** The token of the client's previous session, which the new session replaces. */
  previousToken: string | null;
  /** The token of the browser's cookie, which it keeps from sign-in to sign-in. */
  browserToken: string | null;
}
