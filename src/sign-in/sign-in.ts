import type { BatchItem } from 'drizzle-orm/batch';
import { restoreAccount } from '../accounts/account.ts';
import { auditFirst } from '../audit/audit.ts';
import { type LimitedAccount, getAccount } from '../db/account.ts';
import { databaseOf } from '../db/client.ts';
import type { PublicCtx } from '../db/ctx.ts';
import { violatesNotNull } from '../db/errors.ts';
import { sessions, type UserRow } from '../db/schema.ts';
import { letterTo } from '../mail/letter.ts';
import { NOTHING_TOLD, tell } from '../mail/tell.ts';
import { newSignIn } from '../mail/templates.ts';
import {
  deleteExpiredSessions,
  endOldestSessions,
  endOtherSessions,
  endSessionOf,
  newSession,
  type NewSession,
} from '../sessions/sessions.ts';
import { AppError } from '../shared/app-error.ts';
import type { AuditDetails } from '../shared/rules/audit.ts';
import type { Client } from '../users/client.ts';
import {
  browserTokenOf,
  findBrowsers,
  forgetBrowsers,
  isNewBrowser,
  rememberBrowser,
} from '../users/known-browsers.ts';
import { deleteExpiredThrottles } from '../users/throttle.ts';
import { deleteExpiredTokens, deleteTokens } from '../users/user-tokens.ts';
import { idIfSamePassword } from '../users/user.ts';

export interface SignedIn {
  account: LimitedAccount & Pick<UserRow, 'emailVerifiedAt'>;
  session: NewSession;
  browserToken: string;
}

/**
 * Commits a session for a user who has proven to be themselves, and `statements` with it. If the password has changed since it was
 * checked, neither. Returns what is left to do, which may still fail.
 */
export const beginSession = async (
  ctx: PublicCtx,
  user: UserRow,
  client: Client,
  action: 'login' | 'password.reset',
  statements: BatchItem<'sqlite'>[],
  details: AuditDetails | null = null,
): Promise<() => Promise<SignedIn>> => {
  const { firstDb } = ctx;
  const { accountId } = user;
  const browserToken = browserTokenOf(ctx, client.browserToken);
  const browsers = await findBrowsers(ctx, accountId);
  const nowMs = Date.now();
  const { session, row } = newSession(ctx, accountId, nowMs, client.userAgent);
  const told =
    action === 'login' && isNewBrowser(browsers, client.browserToken)
      ? await tell(ctx, letterTo(user, newSignIn(client.origin, row, nowMs)))
      : NOTHING_TOLD;
  try {
    await firstDb.batch([
      endSessionOf(ctx, client.previousToken),
      ...statements,
      endOldestSessions(ctx, accountId),
      firstDb.insert(sessions).values({ ...row, accountId: idIfSamePassword(ctx, user) }),
      auditFirst({ ...ctx, accountId, actor: { kind: 'session', id: row.id } }, action, null, details),
      rememberBrowser(ctx, accountId, browserToken),
      ...forgetBrowsers(ctx, browsers, browserToken),
      deleteExpiredSessions(ctx, nowMs),
      deleteExpiredThrottles(ctx, nowMs),
      // Whoever can sign in needs no other address.
      deleteTokens(ctx, accountId, ['operator_email']),
      deleteExpiredTokens(ctx),
      ...told.statements,
    ]);
  } catch (error) {
    throw violatesNotNull(error, 'sessions.account_id') ? new AppError('invalid_credentials') : error;
  }
  return async () => {
    told.send();
    const actor = { kind: 'session', id: row.id } as const;
    const accountCtx = { ...ctx, db: databaseOf(ctx.env, accountId), accountId, key: null, actor };
    // Read now: an erasure that is requested later ends the new session.
    const account = await getAccount(accountCtx);
    if (account.eraseAt !== null) {
      // The request of the erasure may have been unable to end the sessions of before.
      await endOtherSessions(ctx, accountId, row.tokenHash);
      await restoreAccount(accountCtx);
    }
    return {
      account: { ...account, email: user.email, emailVerifiedAt: user.emailVerifiedAt },
      session,
      browserToken,
    };
  };
};

/** Starts a session. Every sign-in but the registration ends here, or in `beginSession`. */
export const signIn = async (...session: Parameters<typeof beginSession>): Promise<SignedIn> =>
  (await beginSession(...session))();
