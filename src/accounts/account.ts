import { eq } from 'drizzle-orm';
import { type AccountRow, accounts } from '../db/schema.ts';
import type { Ctx } from '../http/context.ts';

export const getAccount = async ({ db, accountId }: Ctx): Promise<AccountRow> => {
  const [account] = await db.select().from(accounts).where(eq(accounts.id, accountId));
  if (!account) throw new Error(`The credential's account ${accountId} is not in the database.`);
  return account;
};
