import type { PresentedKey } from '../shared/presented-key.ts';
import type { Database } from './client.ts';

/** The context of a verb that doesn't need an account. */
export interface PublicCtx {
  env: Env;
  db: Database;
}

/** The context of a verb that acts on an account's data. */
export interface AccountCtx extends PublicCtx {
  accountId: string;
}

/** The context of a verb that an authenticated caller runs on its own account. */
export interface Ctx extends AccountCtx {
  /** The caller's API key, or null for a session. */
  key: PresentedKey | null;
}
