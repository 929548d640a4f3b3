import { eq } from 'drizzle-orm';
import type * as z from 'zod';
import { type AccountRow, accounts } from '../db/schema.ts';
import type { Ctx } from '../http/context.ts';
import { getAccount } from './account.ts';
import type { patchAccountInput } from './schemas.ts';

/** Nothing here that a gate knows, so none has to be told. */
export const changeAccount = async (
  ctx: Ctx,
  input: z.output<typeof patchAccountInput>,
): Promise<AccountRow> => {
  const fields = {
    ...(input.name !== undefined && { name: input.name }),
    ...(input.allowed_origins !== undefined && { allowedOrigins: input.allowed_origins }),
  };
  if (Object.keys(fields).length > 0) {
    await ctx.db.update(accounts).set(fields).where(eq(accounts.id, ctx.accountId));
  }
  return getAccount(ctx);
};
