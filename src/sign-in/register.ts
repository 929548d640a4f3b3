import { eq } from 'drizzle-orm';
import type * as z from 'zod';
import { auditFirst } from '../audit/audit.ts';
import { toAccountOf } from '../db/account.ts';
import { type AccountDatabase, databaseOf, placeOf } from '../db/client.ts';
import type { PublicCtx } from '../db/ctx.ts';
import { isRejected, violatesNotNull, violatesUnique } from '../db/errors.ts';
import { findRoom, forgetPlace, settleIn } from '../db/room.ts';
import { type AccountRow, accounts, licenseTotals, sessions, users } from '../db/schema.ts';
import { regionOf } from '../gate/worker/nearest.ts';
import { hasMail } from '../mail/deliver.ts';
import { deleteExpiredSessions, newSession } from '../sessions/sessions.ts';
import { AppError } from '../shared/app-error.ts';
import { gateOf, outboxOf } from '../shared/objects/address.ts';
import { HOUR_MS } from '../shared/rules/dates.ts';
import type { Location, Region } from '../shared/rules/regions.ts';
import { newId } from '../shared/text/ids.ts';
import { logError, logLine } from '../shared/text/log.ts';
import type { Client } from '../users/client.ts';
import { admitRegistration, deleteInvitation, unlessUsed } from '../users/invitations.ts';
import { browserTokenOf, rememberBrowser } from '../users/known-browsers.ts';
import { idUnlessLate } from '../users/late-user.ts';
import { registerLimits } from '../users/limits.ts';
import { hashPassword } from '../users/passwords.ts';
import { emailUnlessReserved } from '../users/reserved-emails.ts';
import { consumeAttempts, deleteExpiredThrottles } from '../users/throttle.ts';
import type { registerInput } from './schemas.ts';

interface NewAccount {
  email: string;
  name: string | null;
  passwordHash: string;
  homeRegion?: Region | null;
  client?: Pick<Client, 'userAgent' | 'browserToken'>;
  /** The hash of the invitation that this uses up, if it needs one. */
  invitation?: string | null;
}

/** How long an account without a user stays. */
const USER_DUE_MS = HOUR_MS;

/** Notes that the account has its user. If that fails, the scheduled work does it. */
const noteUser = async (db: AccountDatabase, accountId: string): Promise<void> => {
  try {
    await db.update(accounts).set({ userDueAt: null }).where(eq(accounts.id, accountId));
  } catch (error) {
    logError('user_not_noted', error, { account_id: accountId });
  }
};

/** Finds a database that has room for the account. Returns whether it isn't that of the account's id. */
const findPlaceFor = async (env: Env, accountId: string): Promise<boolean> => {
  const room = await findRoom(env, accountId);
  if (!room) {
    logLine('error', { event: 'databases_closed' });
    throw new AppError('unavailable', { message: 'The service has no room for new accounts at the moment.' });
  }
  if (room.binding === (await placeOf(env, accountId)).binding) return false;
  await settleIn(env, accountId, room);
  return true;
};

/**
 * Inserts an account with its user and first session. The account comes first, possibly in another database: without a
 * user, nobody can sign in to it, its email address can be registered again, and it is erased after an hour. It has no gate
 * yet, so no feed row is needed.
 */
export const createAccount = async (
  ctx: PublicCtx,
  { passwordHash, client, invitation = null, ...fields }: NewAccount,
) => {
  const { env, firstDb } = ctx;
  const nowMs = Date.now();
  const account: AccountRow = {
    id: newId('acct'),
    homeRegion: null,
    // Nobody can prove an address to a service that sends no mail.
    isUnverified: hasMail(env),
    ...fields,
    plan: 'free',
    periodStart: null,
    periodEnd: null,
    planUntil: null,
    grantedPlan: null,
    grantedUntil: null,
    suspendedAt: null,
    eraseAt: null,
    unverifiedToldAt: null,
    userDueAt: nowMs + USER_DUE_MS,
    userVersion: 0,
    customerRef: null,
    allowedOrigins: [],
    mutedEmails: [],
    createdAt: nowMs,
  };
  const { session, row } = newSession(ctx, account.id, nowMs, client?.userAgent);
  const browserToken = browserTokenOf(ctx, client?.browserToken ?? null);
  const isGuest = await findPlaceFor(env, account.id);
  const db = databaseOf(env, account.id);
  await db.batch([
    db.insert(accounts).values(account),
    db.insert(licenseTotals).values({ accountId: account.id, licenses: 0, bytes: 0 }),
  ]);
  try {
    await firstDb.batch([
      firstDb.insert(users).values({
        accountId: idUnlessLate(account.id),
        email: emailUnlessReserved(account.email, account.id),
        passwordHash: unlessUsed(invitation, passwordHash),
      }),
      deleteInvitation(ctx, invitation),
      firstDb.insert(sessions).values(row),
      auditFirst({ ...ctx, accountId: account.id, actor: { kind: 'session', id: row.id } }, 'register', null),
      rememberBrowser(ctx, account.id, browserToken),
      deleteExpiredSessions(ctx, nowMs),
      deleteExpiredThrottles(ctx, nowMs),
    ]);
  } catch (error) {
    // After any other error, the user may exist. Then the scheduled work finds out, and also if this fails.
    if (isRejected(error)) {
      await db.batch([
        db.delete(licenseTotals).where(eq(licenseTotals.accountId, account.id)),
        db.delete(accounts).where(eq(accounts.id, account.id)),
      ]);
      if (isGuest) await forgetPlace(env, account.id);
    }
    if (violatesNotNull(error, 'users.password_hash')) throw new AppError('invalid_token');
    const isTaken = violatesUnique(error, 'users.email') || violatesNotNull(error, 'users.email');
    throw isTaken ? new AppError('email_taken') : error;
  }
  await noteUser(db, account.id);
  return { account: { ...toAccountOf(env, account), emailVerifiedAt: null }, session, browserToken };
};

/**
 * Calls the account's Durable Objects for the first time, which places them. If that fails, the next caller places them
 * wherever it is, which costs latency only.
 */
const placeObjects = async ({ env }: PublicCtx, { id, homeRegion }: AccountRow): Promise<void> => {
  const calls = [gateOf(env, id, homeRegion).pull(), outboxOf(env, id, homeRegion).listEndpoints()];
  for (const result of await Promise.allSettled<unknown>(calls)) {
    if (result.status === 'rejected') logError('objects_not_placed', result.reason, { account_id: id });
  }
};

export const register = async (
  ctx: PublicCtx,
  input: z.infer<typeof registerInput>,
  client: Client & { location: Location },
) => {
  await consumeAttempts(ctx, registerLimits(client.ip));
  const invitation = await admitRegistration(ctx, input.email, input.invitation);
  const created = await createAccount(ctx, {
    invitation,
    email: input.email,
    name: input.name ?? null,
    passwordHash: await hashPassword(input.password),
    homeRegion: input.home_region ?? regionOf(client.location),
    client,
  });
  await placeObjects(ctx, created.account);
  return created;
};
