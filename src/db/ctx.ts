import type { PresentedKey } from '../shared/presented-key.ts';
import type { AccountDatabase, FirstDatabase } from './client.ts';

/** The context of an operation that doesn't need an account. */
export interface PublicCtx {
  env: Env;
  /** Has the users, sessions and throttles of all accounts. */
  firstDb: FirstDatabase;
}

/** The context of work on one of the databases that store accounts. */
export interface DatabaseCtx {
  env: Env;
  db: AccountDatabase;
}

/** The context of an operation on an account. `db` is the account's database. */
export interface Ctx extends DatabaseCtx {
  accountId: string;
  /** The caller's API key. Null for a session, and for calls by the service itself. */
  key: PresentedKey | null;
}
