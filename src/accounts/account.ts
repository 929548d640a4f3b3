import { eq } from 'drizzle-orm';
import type * as z from 'zod';
import { audit, auditWithinStorage, refuseEntry } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { claimStatements } from '../db/idempotency.ts';
import { accounts } from '../db/schema.ts';
import { commit } from '../gate/worker/commit.ts';
import { omitUndefined } from '../shared/schemas/omit-undefined.ts';
import type { patchAccountInput } from './schemas.ts';

/** Updates fields that aren't in the gate's local copy, so no feed row is needed. */
export const changeAccount = async (ctx: Ctx, input: z.output<typeof patchAccountInput>): Promise<void> => {
  const { name, allowed_origins: allowedOrigins, muted_emails: mutedEmails } = input;
  const fields = omitUndefined({ name, allowedOrigins, mutedEmails });
  if (Object.keys(fields).length > 0) {
    const update = ctx.db.update(accounts).set(fields).where(eq(accounts.id, ctx.accountId));
    const entry = auditWithinStorage(ctx, 'account.update', null, { fields: Object.keys(input) });
    const claims = ctx.idempotency ? claimStatements(ctx, ctx.idempotency, ctx.accountId) : [];
    await ctx.db.batch([update, entry, ...claims]).catch(refuseEntry);
  }
};

/** Cancels the erasure of an account. Its API keys are valid again, and its subscription stays canceled. */
export const restoreAccount = async (ctx: Ctx): Promise<void> => {
  await commit(
    ctx,
    [
      audit(ctx, 'account.restore', null),
      ctx.db.update(accounts).set({ eraseAt: null }).where(eq(accounts.id, ctx.accountId)),
    ],
    [{ kind: 'account', ref: ctx.accountId }],
    { isBeyondLimits: true },
  );
};
