import type { PresentedKey } from '../shared/presented-key.ts';
import type { Database } from './client.ts';

/** The context of a verb that needs no account. */
export interface PublicCtx {
  env: Env;
  db: Database;
}

/** The context of a verb that acts on an account. */
export interface Ctx extends PublicCtx {
  accountId: string;
  /** The API key that makes the call. Null for a session, and for the service itself. */
  key: PresentedKey | null;
}
