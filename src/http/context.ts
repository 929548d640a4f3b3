import type { Context } from 'hono';
import { databaseOf, firstDatabase } from '../db/client.ts';
import type { Ctx, PublicCtx, UserCtx } from '../db/ctx.ts';
import type { PortalRow, PortalSessionRow } from '../db/schema.ts';
import type { ErrorCode } from '../shared/app-error.ts';
import type { PresentedKey } from '../shared/rules/api-keys.ts';
import type { Actor } from '../shared/rules/audit.ts';
import type { RateState } from '../shared/rules/rate.ts';
import { clientAddress } from './client.ts';

/** A seller's portal that is on, with the session of the customer who makes the call. */
interface OpenPortal {
  row: PortalRow;
  customer: PortalSessionRow | null;
}

export interface AppEnv {
  Bindings: Env;
  Variables: {
    requestId: string;
    ctx: Ctx;
    key: PresentedKey;
    sessionHash: string;
    /** The portal of the path, and who is signed in to it. */
    portal: OpenPortal;
    /** Of the session: until when its holder counts as having proved who they are. */
    provedUntilMs: number;
    errorCode: ErrorCode;
    /** The response is a static file, which has the headers of `src/web/public/_headers`. */
    hasFileHeaders: boolean;
    /** Web pages of any origin may read the response. */
    anyOrigin: boolean;
    /** That of the caller's key or session, after this call. */
    rate: RateState;
    /** Details of an unexpected error. Only logged, never sent to the client. */
    fault: { error: string; stack?: string };
  };
}

export const publicCtx = (c: Context<AppEnv>): PublicCtx => ({
  env: c.env,
  firstDb: firstDatabase(c.env),
  ip: clientAddress(c),
  waitUntil: (work) => c.executionCtx.waitUntil(work),
});

export const accountCtx = (
  c: Context<AppEnv>,
  accountId: string,
  actor: Actor,
  key: PresentedKey | null = null,
): Ctx => ({
  env: c.env,
  db: databaseOf(c.env, accountId),
  accountId,
  key,
  actor,
  ip: clientAddress(c),
});

/**
 * Returns the result of work that goes on if the client disconnects. Otherwise, somebody who hangs up in time could guess a
 * password or code without being counted, or delay the email about a change.
 */
export const completed = <T>(c: Context<AppEnv>, work: Promise<T>): Promise<T> => {
  c.executionCtx.waitUntil(work.catch(() => {}));
  return work;
};

/** For operations on the user of the account that makes the call. */
export const userCtx = (c: Context<AppEnv>): UserCtx => ({ ...c.var.ctx, ...publicCtx(c) });
