import type { Ctx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { gateOf } from '../shared/objects/address.ts';

/** Called before a list compares more licenses, because few have matched. Throws if the account has compared too many. */
export const admitSearch = async ({ env, accountId }: Ctx, licenses: number): Promise<void> => {
  const retryAfterSeconds = await gateOf(env, accountId).admitSearch(licenses);
  if (retryAfterSeconds === null) return;
  throw new AppError('rate_limit_exceeded', {
    message: 'Too many searches that find little. Narrow them down, or wait.',
    retryAfterSeconds,
  });
};
