import { eq } from 'drizzle-orm';
import type * as z from 'zod';
import { auditFirst } from '../audit/audit.ts';
import { databaseOf } from '../db/client.ts';
import type { PublicCtx } from '../db/ctx.ts';
import { isRejected, violatesUnique } from '../db/errors.ts';
import { type AccountRow, accounts, licenseTotals, sessions, users } from '../db/schema.ts';
import { regionOf } from '../gate/worker/nearest.ts';
import { hasMail } from '../mail/deliver.ts';
import { deleteExpiredSessions, newSession } from '../sessions/sessions.ts';
import { AppError } from '../shared/app-error.ts';
import { gateOf, outboxOf } from '../shared/objects/address.ts';
import type { Location, Region } from '../shared/rules/regions.ts';
import { newId } from '../shared/text/ids.ts';
import { logError } from '../shared/text/log.ts';
import type { Client } from '../users/client.ts';
import { browserTokenOf, rememberBrowser } from '../users/known-browsers.ts';
import { registerLimits } from '../users/limits.ts';
import { hashPassword } from '../users/passwords.ts';
import { consumeAttempts, deleteExpiredThrottles } from '../users/throttle.ts';
import type { registerInput } from './schemas.ts';

interface NewAccount {
  email: string;
  name: string | null;
  passwordHash: string;
  homeRegion?: Region | null;
  client?: Pick<Client, 'userAgent' | 'browserToken'>;
}

/**
 * Inserts an account with its user and first session. The account comes first, possibly in another database: without a
 * user, nobody can sign in to it, and its email address can be registered again. It has no gate yet, so no feed row is
 * needed.
 */
export const createAccount = async (ctx: PublicCtx, { passwordHash, client, ...fields }: NewAccount) => {
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
    customerRef: null,
    allowedOrigins: [],
    createdAt: nowMs,
  };
  const { session, row } = newSession(ctx, account.id, nowMs, client?.userAgent);
  const browserToken = browserTokenOf(ctx, client?.browserToken ?? null);
  const db = databaseOf(env, account.id);
  await db.batch([
    db.insert(accounts).values(account),
    db.insert(licenseTotals).values({ accountId: account.id, licenses: 0, bytes: 0 }),
  ]);
  try {
    await firstDb.batch([
      firstDb.insert(users).values({ accountId: account.id, email: account.email, passwordHash }),
      firstDb.insert(sessions).values(row),
      auditFirst({ ...ctx, accountId: account.id, actor: { kind: 'session', id: row.id } }, 'register', null),
      rememberBrowser(ctx, account.id, browserToken),
      deleteExpiredSessions(ctx, nowMs),
      deleteExpiredThrottles(ctx, nowMs),
    ]);
  } catch (error) {
    // After any other error, the user may exist.
    if (isRejected(error)) {
      await db.batch([
        db.delete(licenseTotals).where(eq(licenseTotals.accountId, account.id)),
        db.delete(accounts).where(eq(accounts.id, account.id)),
      ]);
    }
    throw violatesUnique(error, 'users.email') ? new AppError('email_taken') : error;
  }
  return { account: { ...account, emailVerifiedAt: null }, session, browserToken };
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
  const created = await createAccount(ctx, {
    email: input.email,
    name: input.name ?? null,
    passwordHash: await hashPassword(input.password),
    homeRegion: input.home_region ?? regionOf(client.location),
    client,
  });
  await placeObjects(ctx, created.account);
  return created;
};
