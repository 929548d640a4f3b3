import { eq } from 'drizzle-orm';
import { ownLimits } from '../shared/config/settings.ts';
import type { Limits } from '../shared/rules/plans.ts';
import type { Ctx } from './ctx.ts';
import { type AccountRow, accounts } from './schema.ts';

/** An account's row, with what the service lets all accounts do if it sells no plans. */
export interface LimitedAccount extends AccountRow {
  own: Limits | null;
}

export const toAccountOf = (env: Env, row: AccountRow): LimitedAccount => ({ ...row, own: ownLimits(env) });

/** Whether the account sells, and writes to its customers: it is neither suspended nor about to be erased. */
export const isServing = ({ suspendedAt, eraseAt }: Pick<AccountRow, 'suspendedAt' | 'eraseAt'>): boolean =>
  suspendedAt === null && eraseAt === null;

/** Returns the account of a context. */
export const getAccount = async ({
  env,
  db,
  accountId,
}: Pick<Ctx, 'env' | 'db' | 'accountId'>): Promise<LimitedAccount> => {
  const [account] = await db.select().from(accounts).where(eq(accounts.id, accountId));
  if (!account) throw new Error(`The credential's account ${accountId} is not in the database.`);
  return toAccountOf(env, account);
};
