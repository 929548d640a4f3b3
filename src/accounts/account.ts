import { eq } from 'drizzle-orm';
import type * as z from 'zod';
import { audit } from '../audit/audit.ts';
import { type AccountRow, accounts } from '../db/schema.ts';
import type { Ctx } from '../db/ctx.ts';
import { omitUndefined } from '../shared/schemas/omit-undefined.ts';
import type { patchAccountInput } from './schemas.ts';

export const getAccount = async ({ db, accountId }: Pick<Ctx, 'db' | 'accountId'>): Promise<AccountRow> => {
  const [account] = await db.select().from(accounts).where(eq(accounts.id, accountId));
  if (!account) throw new Error(`The credential's account ${accountId} is not in the database.`);
  return account;
};

/** Updates fields that aren't in the gate's local copy, so no feed row is needed. */
export const changeAccount = async (ctx: Ctx, input: z.output<typeof patchAccountInput>): Promise<void> => {
  const fields = omitUndefined({ name: input.name, allowedOrigins: input.allowed_origins });
  if (Object.keys(fields).length > 0) {
    await ctx.db.batch([
      ctx.db.update(accounts).set(fields).where(eq(accounts.id, ctx.accountId)),
      audit(ctx, 'account.update', null, { fields: Object.keys(input) }),
    ]);
  }
};
