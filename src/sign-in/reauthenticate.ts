import { auditFirst } from '../audit/audit.ts';
import type { UserCtx } from '../db/ctx.ts';
import { proveSession, provedUntil } from '../sessions/sessions.ts';
import { AppError } from '../shared/app-error.ts';
import { confirmCode, confirmPassword } from '../two-factor/confirm.ts';
import type { Client } from '../users/client.ts';
import { getUser } from '../users/user.ts';
import type { SessionProof } from './schemas.ts';

const codeRequired = () =>
  new AppError('two_factor_required', {
    details: [{ path: 'code', message: 'Two-factor authentication is on: send a code.' }],
  });

/** The password alone proves as little as at a sign-in if two-factor authentication is on. */
const proveByPassword = async (ctx: UserCtx, password: string, client: Client): Promise<void> => {
  const { twoFactorEnabledAt } = await getUser(ctx, ctx.accountId);
  // First, so that nobody learns whether the password is right.
  if (twoFactorEnabledAt !== null) throw codeRequired();
  await confirmPassword(ctx, password, client);
};

/** Uses up a code. */
const proveByCode = async (ctx: UserCtx, code: string, client: Client): Promise<boolean> =>
  confirmCode(ctx, await getUser(ctx, ctx.accountId), code, client, async ({ statements }) => {
    await ctx.firstDb.batch(statements);
    return true;
  });

/** Proves again who holds the session. Returns until when that counts. */
export const reauthenticate = async (
  ctx: UserCtx,
  sessionHash: string,
  proof: SessionProof,
  client: Client,
): Promise<number> => {
  await ('code' in proof
    ? proveByCode(ctx, proof.code, client)
    : proveByPassword(ctx, proof.password, client));
  const [[session]] = await ctx.firstDb.batch([
    proveSession(ctx, sessionHash, Date.now()),
    auditFirst(ctx, 'session.prove', ctx.actor.id),
  ]);
  // The session was ended in the meantime.
  if (!session) throw new AppError('invalid_session');
  return provedUntil(session);
};
