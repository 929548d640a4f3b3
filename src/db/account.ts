import { eq } from 'drizzle-orm';
import type { Ctx } from './ctx.ts';
import { type AccountRow, accounts } from './schema.ts';

/** Returns the account of a context. */
export const getAccount = async ({ db, accountId }: Pick<Ctx, 'db' | 'accountId'>): Promise<AccountRow> => {
  const [account] = await db.select().from(accounts).where(eq(accounts.id, accountId));
  if (!account) throw new Error(`The credential's account ${accountId} is not in the database.`);
  return account;
};
