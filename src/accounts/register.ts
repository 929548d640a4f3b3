import type * as z from 'zod';
import { violatesUnique } from '../db/errors.ts';
import { type AccountRow, accounts, sessions } from '../db/schema.ts';
import type { PublicCtx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { newId } from '../shared/ids.ts';
import { hashPassword } from './passwords.ts';
import type { registerInput } from './schemas.ts';
import { deleteExpiredSessions, newSession } from '../auth/sessions.ts';
import { consumeAttempts, deleteExpiredThrottles, registerLimits } from './throttle.ts';

interface NewAccount {
  email: string;
  name: string | null;
  passwordHash: string;
}

/** Inserts an account and its first session in one commit. The account has no gate yet, so no feed row is needed. */
export const createAccount = async (ctx: PublicCtx, fields: NewAccount) => {
  const { db } = ctx;
  const nowMs = Date.now();
  const account: AccountRow = {
    id: newId('acct'),
    ...fields,
    plan: 'free',
    periodStart: null,
    periodEnd: null,
    planUntil: null,
    customerRef: null,
    allowedOrigins: [],
    createdAt: nowMs,
  };
  const { session, row } = newSession(ctx, account.id, nowMs);
  try {
    await db.batch([
      db.insert(accounts).values(account),
      db.insert(sessions).values(row),
      deleteExpiredSessions(ctx, nowMs),
      deleteExpiredThrottles(ctx, nowMs),
    ]);
  } catch (error) {
    throw violatesUnique(error, 'accounts.email') ? new AppError('email_taken') : error;
  }
  return { account, session };
};

export const register = async (ctx: PublicCtx, input: z.infer<typeof registerInput>, ip: string) => {
  await consumeAttempts(ctx, registerLimits(ip));
  const passwordHash = await hashPassword(input.password);
  return createAccount(ctx, { email: input.email, name: input.name ?? null, passwordHash });
};
