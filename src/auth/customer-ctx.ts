import type { Context } from 'hono';
import type { AppEnv } from '../http/context.ts';
import type { CustomerCtx, PortalCtx } from '../portal/sessions.ts';
import { AppError } from '../shared/app-error.ts';

export const portalCtx = (c: Context<AppEnv>): PortalCtx => ({ ...c.var.ctx, portal: c.get('portal').row });

/** For operations of the customer who is signed in. */
export const customerCtx = (c: Context<AppEnv>): CustomerCtx => {
  const { customer } = c.get('portal');
  if (!customer) throw new AppError('portal_session_required');
  return { ...portalCtx(c), customer };
};
