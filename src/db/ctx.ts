import type { PresentedKey } from '../shared/rules/api-keys.ts';
import type { Actor } from '../shared/rules/audit.ts';
import type { AccountDatabase, FirstDatabase } from './client.ts';

/** The context of an operation that doesn't need an account. */
export interface PublicCtx {
  env: Env;
  /** Has the users, sessions and throttles of all accounts. */
  firstDb: FirstDatabase;
  /** The caller's address. Null for calls by the service itself, and in local runs. */
  ip: string | null;
  /** Lets work go on after the response. It must not fail. */
  waitUntil: (work: Promise<unknown>) => void;
}

/** The context of work on one of the databases that store accounts. */
export interface DatabaseCtx {
  env: Env;
  db: AccountDatabase;
}

/** The Idempotency-Key of a request. */
export interface Idempotency {
  key: string;
  /** Of the route and the body. */
  requestHash: string;
  /** One time for the whole request, so that a claim can't expire between its lookup and its insert. */
  atMs: number;
  /** Called if an earlier request has claimed the key. */
  onRepeat: () => void;
}

/** The context of an operation on an account. `db` is the account's database. */
export interface Ctx extends DatabaseCtx {
  accountId: string;
  /** The caller's API key. Null for a session, and for calls by the service itself. */
  key: PresentedKey | null;
  /** Who makes the call, for the audit log. */
  actor: Actor;
  /** The caller's address, as in `PublicCtx`. */
  ip: string | null;
  /** The request's Idempotency-Key, on a route that honors it. */
  idempotency?: Idempotency;
  /** The request's If-Match, on a route that changes something with an ETag. */
  ifMatch?: string | undefined;
}

/** The context of an operation on the caller's user, who is in the first database. */
export type UserCtx = Ctx & PublicCtx;
