import { and, eq, type SQL, sql } from 'drizzle-orm';
import { databaseOf } from '../db/client.ts';
import type { Ctx, PublicCtx } from '../db/ctx.ts';
import { type UserRow, users } from '../db/schema.ts';

export const getUser = async (
  { firstDb }: Pick<PublicCtx, 'firstDb'>,
  accountId: string,
): Promise<UserRow> => {
  const user = await firstDb.select().from(users).where(eq(users.accountId, accountId)).get();
  if (!user) throw new Error(`The account ${accountId} has no user.`);
  return user;
};

/** The account of a user who has got an email, and need not be signed in. */
export const accountOf = ({ env, ip }: PublicCtx, accountId: string): Ctx => ({
  env,
  db: databaseOf(env, accountId),
  accountId,
  key: null,
  actor: { kind: 'session', id: null },
  ip,
});

/** Whether the password is still the one that was checked, as a condition for a batch. */
export const isSamePassword = ({ passwordChangedAt }: Pick<UserRow, 'passwordChangedAt'>): SQL =>
  sql`${users.passwordChangedAt} IS ${passwordChangedAt}`;

/** The account's id for a row that requires one, or null, which fails the batch, if the password has changed. */
export const idIfSamePassword = ({ firstDb }: Pick<PublicCtx, 'firstDb'>, user: UserRow): SQL<string> => {
  const isUser = and(eq(users.accountId, user.accountId), isSamePassword(user));
  return sql`(${firstDb.select({ accountId: users.accountId }).from(users).where(isUser)})`;
};

/** Statement that sets the password. Unless the condition holds, `password_hash` is null, which fails the batch. */
export const setPassword = (
  { firstDb }: Pick<PublicCtx, 'firstDb'>,
  { accountId, passwordHash, passwordChangedAt }: UserRow,
  condition: SQL,
) =>
  firstDb
    .update(users)
    .set({ passwordHash: sql`CASE WHEN ${condition} THEN ${passwordHash} END`, passwordChangedAt })
    .where(eq(users.accountId, accountId));
