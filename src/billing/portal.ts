import { getAccount } from '../db/account.ts';
import type { Ctx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { getCheckoutProvider } from './provider/providers.ts';

/** Returns the provider's page for cards, invoices, and tax ids. An account that has never paid has none. */
export const openPortal = async (ctx: Ctx, origin: string): Promise<string> => {
  const provider = await getCheckoutProvider(ctx.env, origin);
  const { customerRef } = await getAccount(ctx);
  const url = await provider.portal(customerRef, `${origin}/billing`);
  if (url === null)
    throw new AppError('no_active_subscription', { message: 'The account has paid for no plan yet.' });
  return url;
};
