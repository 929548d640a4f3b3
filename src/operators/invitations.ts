import { and, count, desc, eq, gt, lt, sql } from 'drizzle-orm';
import { auditFirst } from '../audit/audit.ts';
import type { PublicCtx } from '../db/ctx.ts';
import { invitations } from '../db/schema.ts';
import { AppError, limitReached } from '../shared/app-error.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import type { PageInput } from '../shared/schemas/lists.ts';
import { newId } from '../shared/text/ids.ts';
import { deleteInvitation, newInvitation } from '../users/invitations.ts';

type AuditCtx = Parameters<typeof auditFirst>[0];
type OperatorCtx = PublicCtx & AuditCtx;

export type InvitationRow = typeof invitations.$inferSelect;

const MAX_INVITATIONS = 1_000;
/** Creates an invitation, for an address or for whoever has its token, which nobody can read again. */
export const invite = async (ctx: OperatorCtx, email: string | null, days: number) => {
  const { firstDb } = ctx;
  const [{ pending } = { pending: 0 }] = await firstDb
    .select({ pending: count() })
    .from(invitations)
    .where(gt(invitations.expiresAt, Date.now()));
  if (pending >= MAX_INVITATIONS)
    throw limitReached('invitations', `At most ${MAX_INVITATIONS} invitations can be open. Delete some.`);
  const { token, tokenHash } = newInvitation(ctx);
  const nowMs = Date.now();
  const row: InvitationRow = {
    id: newId('inv'),
    tokenHash,
    email,
    createdAt: nowMs,
    expiresAt: nowMs + days * DAY_MS,
  };
  await firstDb.batch([
    firstDb.insert(invitations).values(row),
    auditFirst(ctx, 'invitation.create', row.id, null),
    deleteInvitation(ctx, null),
  ]);
  return { token, row };
};

/** Returns the newest invitations that can still be used. */
export const listInvitations = ({ firstDb }: PublicCtx, { limit, cursor }: PageInput) =>
  firstDb
    .select()
    .from(invitations)
    .where(and(gt(invitations.expiresAt, Date.now()), cursor ? lt(invitations.id, cursor) : undefined))
    .orderBy(desc(invitations.id))
    .limit(limit + 1);

export const revokeInvitation = async (ctx: OperatorCtx, id: string): Promise<void> => {
  const { firstDb } = ctx;
  const exists = sql`EXISTS (SELECT 1 FROM ${invitations} WHERE ${invitations.id} = ${id})`;
  const [, deleted] = await firstDb.batch([
    auditFirst(ctx, 'invitation.delete', id, null, exists),
    firstDb.delete(invitations).where(eq(invitations.id, id)).returning({ id: invitations.id }),
  ]);
  if (deleted.length === 0) throw new AppError('not_found', { message: 'Invitation Not Found' });
};
