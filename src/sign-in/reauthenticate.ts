import { auditFirst } from '../audit/audit.ts';
import type { UserCtx } from '../db/ctx.ts';
import { proveSession, provedUntil } from '../sessions/sessions.ts';
import { AppError } from '../shared/app-error.ts';
import { confirmCode, confirmPassword } from '../two-factor/confirm.ts';
import type { Client } from '../users/client.ts';
import { getUser } from '../users/user.ts';
import type { SessionProof } from './schemas.ts';

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
    : confirmPassword(ctx, proof.password, client));
  const [[session]] = await ctx.firstDb.batch([
    proveSession(ctx, sessionHash, Date.now()),
    auditFirst(ctx, 'session.prove', ctx.actor.id),
  ]);
  // The session was ended in the meantime.
  if (!session) throw new AppError('invalid_session');
  return provedUntil(session);
};
