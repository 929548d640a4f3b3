import { and, eq, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { auditFirst } from '../audit/audit.ts';
import type { Client } from '../auth/client.ts';
import {
  deleteExpiredSessions,
  endOldestSessions,
  endSessionOf,
  newSession,
  type NewSession,
} from '../auth/sessions.ts';
import { databaseOf } from '../db/client.ts';
import type { PublicCtx } from '../db/ctx.ts';
import { violatesNotNull } from '../db/errors.ts';
import { type AccountRow, sessions, type UserRow, users } from '../db/schema.ts';
import type { Mail } from '../mail/send.ts';
import { newSignIn } from '../mail/templates.ts';
import { AppError } from '../shared/app-error.ts';
import { getAccount } from './account.ts';
import {
  browserTokenOf,
  findBrowsers,
  forgetBrowsers,
  isNewBrowser,
  rememberBrowser,
} from './known-browsers.ts';
import { deleteExpiredThrottles } from './throttle.ts';
import { isSamePassword } from './user.ts';
import { deleteExpiredTokens } from './user-tokens.ts';

export interface SignedIn {
  account: AccountRow & Pick<UserRow, 'emailVerifiedAt'>;
  session: NewSession;
  browserToken: string;
  /** An email to send after the response. */
  mail: { to: string; mail: Mail } | null;
}

/**
 * Starts a session for a user who has proven to be themselves. Every sign-in but the registration ends here. `statements`
 * are committed with the session. If the password has changed since it was checked, nothing is.
 */
export const signIn = async (
  ctx: PublicCtx,
  user: UserRow,
  client: Client,
  action: 'login' | 'password.reset',
  statements: BatchItem<'sqlite'>[],
): Promise<SignedIn> => {
  const { firstDb } = ctx;
  const { accountId } = user;
  const browserToken = browserTokenOf(client.browserToken);
  const [account, browsers] = await Promise.all([
    getAccount({ db: databaseOf(ctx.env, accountId), accountId }),
    findBrowsers(ctx, accountId),
  ]);
  const nowMs = Date.now();
  const { session, row } = newSession(ctx, accountId, nowMs, client.userAgent);
  const withSamePassword = firstDb
    .select({ accountId: users.accountId })
    .from(users)
    .where(and(eq(users.accountId, accountId), isSamePassword(user)));
  try {
    await firstDb.batch([
      endSessionOf(ctx, client.previousToken),
      ...statements,
      endOldestSessions(ctx, accountId),
      firstDb.insert(sessions).values({ ...row, accountId: sql`(${withSamePassword})` }),
      auditFirst({ ...ctx, accountId, actor: { kind: 'session', id: row.id } }, action, null),
      rememberBrowser(ctx, accountId, browserToken),
      ...forgetBrowsers(ctx, browsers),
      deleteExpiredSessions(ctx, nowMs),
      deleteExpiredThrottles(ctx, nowMs),
      deleteExpiredTokens(ctx),
    ]);
  } catch (error) {
    throw violatesNotNull(error, 'sessions.account_id') ? new AppError('invalid_credentials') : error;
  }
  const mail = newSignIn(client.origin, row, nowMs);
  return {
    account: { ...account, email: user.email, emailVerifiedAt: user.emailVerifiedAt },
    session,
    browserToken,
    mail: action === 'login' && isNewBrowser(browsers, browserToken) ? { to: user.email, mail } : null,
  };
};
