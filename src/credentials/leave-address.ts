import type { PublicCtx } from '../db/ctx.ts';
import { type UserRow, userTokens } from '../db/schema.ts';
import { letterTo } from '../mail/letter.ts';
import { tell } from '../mail/tell.ts';
import { emailChanged, tokenUrl } from '../mail/templates.ts';
import { newUserToken } from '../users/user-tokens.ts';

/** An address that was never proved may be a stranger's, by a typing error, so it gets no way back into the account. */
const newWayBack = (ctx: PublicCtx, { accountId, email, emailVerifiedAt }: UserRow) =>
  emailVerifiedAt === null ? null : newUserToken(ctx, accountId, 'restore_email', email);

/** Tells the address that the account leaves, and gives it a way back, unless nobody knows where the service is. */
export const leaveAddress = async (
  ctx: PublicCtx,
  user: UserRow,
  newEmail: string,
  origin: string | null,
) => {
  const way = newWayBack(ctx, user);
  const link = way && origin !== null ? tokenUrl(origin, 'restore-email', way.token) : null;
  const told = await tell(ctx, { ...letterTo(user, emailChanged(newEmail, link)), isUnverified: false });
  const rows = way ? [ctx.firstDb.insert(userTokens).values(way.row)] : [];
  return { ...told, statements: [...rows, ...told.statements] };
};
