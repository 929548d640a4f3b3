import type * as z from 'zod';
import { violatesUnique } from '../db/errors.ts';
import { type AccountRow, accounts, sessions } from '../db/schema.ts';
import type { PublicCtx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { newId } from '../shared/ids.ts';
import { logError } from '../shared/log.ts';
import { gateOf, outboxOf } from '../shared/objects.ts';
import { type Location, nearestRegion, type Region } from '../shared/rules/regions.ts';
import { hashPassword } from './passwords.ts';
import type { registerInput } from './schemas.ts';
import { deleteExpiredSessions, newSession } from '../auth/sessions.ts';
import { consumeAttempts, deleteExpiredThrottles, registerLimits } from './throttle.ts';

interface NewAccount {
  email: string;
  name: string | null;
  passwordHash: string;
  homeRegion?: Region | null;
}

/** Inserts an account and its first session in one commit. The account has no gate yet, so no feed row is needed. */
export const createAccount = async (ctx: PublicCtx, fields: NewAccount) => {
  const { firstDb } = ctx;
  const nowMs = Date.now();
  const account: AccountRow = {
    id: newId('acct'),
    homeRegion: null,
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
    await firstDb.batch([
      firstDb.insert(accounts).values(account),
      firstDb.insert(sessions).values(row),
      deleteExpiredSessions(ctx, nowMs),
      deleteExpiredThrottles(ctx, nowMs),
    ]);
  } catch (error) {
    throw violatesUnique(error, 'accounts.email') ? new AppError('email_taken') : error;
  }
  return { account, session };
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
  client: { ip: string; location: Location },
) => {
  await consumeAttempts(ctx, registerLimits(client.ip));
  const created = await createAccount(ctx, {
    email: input.email,
    name: input.name ?? null,
    passwordHash: await hashPassword(input.password),
    homeRegion: input.home_region ?? nearestRegion(client.location),
  });
  await placeObjects(ctx, created.account);
  return created;
};
