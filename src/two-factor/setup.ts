import { and, eq, isNull, sql } from 'drizzle-orm';
import { auditFirst } from '../audit/audit.ts';
import type { UserCtx } from '../db/ctx.ts';
import { violatesNotNull } from '../db/errors.ts';
import { recoveryCodes, sessions, type UserRow, users } from '../db/schema.ts';
import { letterTo } from '../mail/letter.ts';
import { tell, type Told } from '../mail/tell.ts';
import { recoveryCodesReplaced, twoFactorChanged } from '../mail/two-factor-templates.ts';
import { undoIfEnded } from '../sessions/caller.ts';
import { endOtherSessions } from '../sessions/sessions.ts';
import { AppError } from '../shared/app-error.ts';
import type { Client } from '../users/client.ts';
import { deleteTokens } from '../users/user-tokens.ts';
import { getUser, isSamePassword } from '../users/user.ts';
import { changeUserIf, hasSameSecret, NO_TWO_FACTOR, sealSecret, unsealSecret, wrongCode } from './code.ts';
import { confirmCode, confirmPassword } from './confirm.ts';
import { newRecoveryCodes, storeCodes } from './recovery-codes.ts';
import { findStep, newSecret, otpauthUrl } from './totp.ts';

const notNow = (message: string) => new AppError('invalid_transition', { message });

/** An API key belongs to a program, which has no authenticator app. */
const notASession = () =>
  new AppError('insufficient_scope', { message: 'Only a session can change two-factor.' });

const requireSession = ({ key }: UserCtx) => {
  if (key) throw notASession();
};

const ALREADY_ON = 'Two-factor authentication is on already. Turn it off first.';

/** Stores a new secret, which is pending until a code confirms it. */
export const startTwoFactor = async (ctx: UserCtx) => {
  requireSession(ctx);
  const { accountId } = ctx;
  const secret = newSecret();
  const [user] = await ctx.firstDb
    .update(users)
    .set({ twoFactorSecret: await sealSecret(ctx, accountId, secret), twoFactorLastStep: null })
    .where(and(eq(users.accountId, accountId), isNull(users.twoFactorEnabledAt)))
    .returning({ email: users.email });
  if (!user) throw notNow(ALREADY_ON);
  return { secret, otpauth_url: otpauthUrl(secret, user.email) };
};

/**
 * Sessions that began with a password alone end, so that a thief's doesn't outlive what is to keep thieves out. A session that has
 * been ended meanwhile turns nothing on.
 */
const enable = async (
  ctx: UserCtx,
  user: UserRow,
  { step, codes, sessionHash }: { step: number; codes: string[]; sessionHash: string },
  told: Told,
) => {
  const { accountId } = user;
  const isOwn = and(eq(sessions.accountId, accountId), eq(sessions.tokenHash, sessionHash));
  const hasSession = sql`EXISTS (SELECT 1 FROM ${sessions} WHERE ${isOwn})`;
  await ctx.firstDb.batch([
    changeUserIf(ctx, user, and(hasSameSecret(user), isSamePassword(user), hasSession), {
      twoFactorEnabledAt: Date.now(),
      twoFactorLastStep: step,
    }),
    ...storeCodes(ctx, accountId, codes),
    endOtherSessions(ctx, accountId, sessionHash),
    auditFirst(ctx, 'two_factor.enable', null),
    ...told.statements,
  ]);
};

/** Turns two-factor authentication on. Returns the recovery codes. */
export const confirmTwoFactor = async (
  ctx: UserCtx,
  code: string,
  { origin }: Client,
  sessionHash: string | null,
): Promise<string[]> => {
  if (sessionHash === null) throw notASession();
  const user = await getUser(ctx, ctx.accountId);
  if (user.twoFactorEnabledAt !== null) throw notNow(ALREADY_ON);
  if (user.twoFactorSecret === null) throw notNow('Set up two-factor authentication first.');
  const step = findStep(await unsealSecret(ctx, user), code.replace(/\s/g, ''), Date.now());
  if (step === null) throw wrongCode();
  const codes = newRecoveryCodes();
  const told = await tell(ctx, letterTo(user, twoFactorChanged(origin, true)));
  try {
    await enable(ctx, user, { step, codes, sessionHash }, told);
  } catch (error) {
    if (!violatesNotNull(error, 'users.password_hash')) throw error;
    await undoIfEnded(ctx, async () => {});
    throw notNow('The secret or the password has changed.');
  }
  told.send();
  return codes;
};

interface Proof {
  current_password: string;
  code: string;
}

/** Returns the caller's user, who has two-factor authentication on, if the password is theirs. */
const confirmOwner = async (ctx: UserCtx, { current_password }: Proof, client: Client): Promise<UserRow> => {
  requireSession(ctx);
  const user = await confirmPassword(ctx, current_password, client);
  if (user.twoFactorEnabledAt === null) throw notNow('Two-factor authentication is off.');
  return user;
};

/** Gives the user new recovery codes, and returns them. The earlier ones end, also the one that may be the proof. */
export const replaceCodes = async (ctx: UserCtx, proof: Proof, client: Client): Promise<string[]> => {
  const user = await confirmOwner(ctx, proof, client);
  return confirmCode(ctx, user, proof.code, client, async ({ statements }) => {
    const codes = newRecoveryCodes();
    const told = await tell(ctx, letterTo(user, recoveryCodesReplaced(client.origin)));
    await ctx.firstDb.batch([
      ...statements,
      ...storeCodes(ctx, user.accountId, codes),
      auditFirst(ctx, 'recovery_code.replace', null),
      ...told.statements,
    ]);
    told.send();
    return codes;
  });
};

/** Turns two-factor authentication off. */
export const disableTwoFactor = async (ctx: UserCtx, proof: Proof, client: Client): Promise<void> => {
  const user = await confirmOwner(ctx, proof, client);
  const { accountId } = user;
  await confirmCode(ctx, user, proof.code, client, async ({ statements }) => {
    const told = await tell(ctx, letterTo(user, twoFactorChanged(client.origin, false)));
    await ctx.firstDb.batch([
      ...statements,
      ctx.firstDb.update(users).set(NO_TWO_FACTOR).where(eq(users.accountId, accountId)),
      ctx.firstDb.delete(recoveryCodes).where(eq(recoveryCodes.accountId, accountId)),
      deleteTokens(ctx, accountId, ['two_factor']),
      auditFirst(ctx, 'two_factor.disable', null),
      ...told.statements,
    ]);
    told.send();
    return true;
  });
};
