import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import type { PublicCtx } from '../db/ctx.ts';
import { violatesNotNull } from '../db/errors.ts';
import { recoveryCodes, type UserRow, users } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { seal, unseal } from '../shared/crypto/sealing.ts';
import type { AttemptOutcome, Limit } from '../users/limits.ts';
import { consumeAttempts } from '../users/throttle.ts';
import { type NoteGuess, settleGuess } from './guesses.ts';
import { hashRecoveryCode } from './recovery-codes.ts';
import { findStep } from './totp.ts';

// Codes are used up in the batch that depends on them: a statement fails the whole batch if somebody else was first.

export const wrongCode = () => new AppError('invalid_credentials', { message: 'Wrong Code' });

/** What a user without two-factor authentication has. */
export const NO_TWO_FACTOR = {
  twoFactorSecret: null,
  twoFactorEnabledAt: null,
  twoFactorLastStep: null,
  twoFactorResetAt: null,
};

/** A code that was used stops a reset: its user hasn't lost what makes codes. */
const KEPT = { twoFactorResetAt: null };

export const ownerOf = (accountId: string) => [accountId, 'two_factor'];

export const sealSecret = ({ env }: PublicCtx, accountId: string, secret: string): Promise<string> =>
  seal(settingsOf(env).sealing, secret, ownerOf(accountId));

export const unsealSecret = ({ env }: PublicCtx, { accountId, twoFactorSecret }: UserRow): Promise<string> =>
  unseal(settingsOf(env).sealing, twoFactorSecret ?? '', ownerOf(accountId));

export interface UsableCode {
  kind: 'totp' | 'recovery_code';
  statements: [BatchItem<'sqlite'>, ...BatchItem<'sqlite'>[]];
}

/** Statement that changes the user if the condition holds. Otherwise `password_hash` is null, which fails the batch. */
export const changeUserIf = (
  { firstDb }: PublicCtx,
  { accountId }: UserRow,
  condition: SQL | undefined,
  changes: Partial<UserRow>,
) =>
  firstDb
    .update(users)
    .set({ ...changes, passwordHash: sql`CASE WHEN ${condition} THEN ${users.passwordHash} END` })
    .where(eq(users.accountId, accountId));

export const hasSameSecret = ({ twoFactorSecret, twoFactorEnabledAt }: UserRow): SQL =>
  sql`${users.twoFactorSecret} IS ${twoFactorSecret} AND ${users.twoFactorEnabledAt} IS ${twoFactorEnabledAt}`;

/** Another request has used the code, or has changed the secret. */
const refuseUsed = (error: unknown): null => {
  if (violatesNotNull(error, 'users.password_hash')) return null;
  throw error;
};

const useRecoveryCode = (ctx: PublicCtx, user: UserRow, codeHash: string): UsableCode => {
  const isCode = and(eq(recoveryCodes.accountId, user.accountId), eq(recoveryCodes.codeHash, codeHash));
  const exists = sql`EXISTS (SELECT 1 FROM ${recoveryCodes} WHERE ${isCode})`;
  return {
    kind: 'recovery_code',
    statements: [
      changeUserIf(ctx, user, and(hasSameSecret(user), exists), KEPT),
      ctx.firstDb.delete(recoveryCodes).where(isCode),
    ],
  };
};

const findCode = async (ctx: PublicCtx, user: UserRow, code: string): Promise<UsableCode | null> => {
  const digits = code.replace(/\s/g, '');
  if (/^\d{6}$/.test(digits)) {
    const step = findStep(await unsealSecret(ctx, user), digits, Date.now());
    if (step === null) return null;
    const isUnused = sql`ifnull(${users.twoFactorLastStep}, -1) < ${step}`;
    const changes = { ...KEPT, twoFactorLastStep: step };
    const use = changeUserIf(ctx, user, and(hasSameSecret(user), isUnused), changes);
    return { kind: 'totp', statements: [use] };
  }
  const codeHash = hashRecoveryCode(code);
  const found = await ctx.firstDb
    .select()
    .from(recoveryCodes)
    .where(and(eq(recoveryCodes.accountId, user.accountId), eq(recoveryCodes.codeHash, codeHash)))
    .get();
  return found ? useRecoveryCode(ctx, user, codeHash) : null;
};

interface CodeWork<T> {
  /** Runs before the code is checked. */
  prepare?: () => Promise<void>;
  use: (code: UsableCode) => Promise<T>;
  note: NoteGuess;
}

/**
 * Lets `use` use up a code from the user's authenticator app or one of the recovery codes. It must commit the code's
 * statements first. Wrong codes count as wrong passwords do.
 */
export const withCode = async <T>(
  ctx: PublicCtx,
  user: UserRow,
  code: string,
  limits: Limit[],
  { prepare, use, note }: CodeWork<T>,
): Promise<T> => {
  const failures = limits.filter(({ counts }) => counts === 'failure');
  const reservations = await consumeAttempts(ctx, failures);
  let outcome: AttemptOutcome = 'error';
  let result: T | null = null;
  try {
    await prepare?.();
    const usable = await findCode(ctx, user, code);
    result = usable && (await use(usable).catch(refuseUsed));
    outcome = result ? 'success' : 'failure';
  } finally {
    await settleGuess(ctx, reservations, outcome, note);
  }
  if (result) return result;
  throw wrongCode();
};
