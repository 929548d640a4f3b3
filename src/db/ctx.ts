import type { PresentedKey } from '../shared/presented-key.ts';
import type { Database } from './client.ts';

/** The context of an operation that doesn't need an account. */
export interface PublicCtx {
  env: Env;
  db: Database;
}

/** The context of an operation on an account. */
export interface Ctx extends PublicCtx {
  accountId: string;
  /** The caller's API key. Null for a session, and for calls by the service itself. */
  key: PresentedKey | null;
}
