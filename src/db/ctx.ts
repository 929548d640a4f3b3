import type { PresentedKey } from '../shared/presented-key.ts';
import type { Database } from './client.ts';

/** The context of a verb that needs no account. */
export interface PublicCtx {
  env: Env;
  db: Database;
}

/** The context of a verb that acts on an account's data. */
export interface AccountCtx extends PublicCtx {
  accountId: string;
}

/** The context of a verb that an authenticated caller runs on its account. */
export interface Ctx extends AccountCtx {
  /** The API key that made the call, or null for a session. */
  key: PresentedKey | null;
}
