import type { Context } from 'hono';
import { database, type Database } from '../db/client.ts';
import type { PresentedKey } from '../gate/admission.ts';
import type { ErrorCode } from '../shared/app-error.ts';

/** What every verb of an account is given: who asks, and where the data is. */
export interface Ctx {
  env: Env;
  db: Database;
  accountId: string;
  /** Set when an API key asks; a session leaves it null. */
  key: PresentedKey | null;
}

/** What a verb without an account is given. */
export type PublicCtx = Pick<Ctx, 'env' | 'db'>;

export interface AppEnv {
  Bindings: Env;
  Variables: {
    requestId: string;
    ctx: Ctx;
    key: PresentedKey;
    sessionHash: string;
    errorCode: ErrorCode;
    isDashboard: boolean;
    /** What an unexpected fault said, for the log alone. */
    fault: { error: string; stack?: string };
  };
}

export const publicCtx = (c: Context<AppEnv>): PublicCtx => ({ env: c.env, db: database(c.env) });

export const accountCtx = (c: Context<AppEnv>, accountId: string, key: PresentedKey | null): Ctx => ({
  ...publicCtx(c),
  accountId,
  key,
});
