import type { Context, MiddlewareHandler } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { firstDatabase } from '../db/client.ts';
import { accountCtx, type AppEnv } from '../http/context.ts';
import { errorResponse } from '../http/errors.ts';
import { type InputOf, type Inputs, readInputs } from '../http/input.ts';
import { createVisitorRate } from '../http/visitor-rate.ts';
import {
  type CustomerCtx,
  findSession,
  hashSession,
  isSeenDue,
  noteSeen,
  type PortalCtx,
} from '../portal/sessions.ts';
import { findPortal } from '../portal/settings.ts';
import { AppError } from '../shared/app-error.ts';
import { VISITOR_PACE } from '../shared/rules/paces.ts';
import { isSameOrigin } from './same-origin.ts';

// The customers of sellers. Their cookie has a name and a kind of token of its own, so that neither is worth anything at /api.

const isHttps = (c: Context) => new URL(c.req.url).protocol === 'https:';
const cookieName = (c: Context) => (isHttps(c) ? '__Host-portal' : 'portal');
const attributes = (c: Context) =>
  ({ path: '/', httpOnly: true, sameSite: 'Lax', secure: isHttps(c) }) as const;

export const clearPortalCookie = (c: Context) => deleteCookie(c, cookieName(c), attributes(c));

export const setPortalCookie = (c: Context, { token, expiresAt }: { token: string; expiresAt: number }) =>
  setCookie(c, cookieName(c), token, { ...attributes(c), expires: new Date(expiresAt) });

const admitVisitor = createVisitorRate(VISITOR_PACE.callsPerSecond);

/**
 * Finds the portal of the path and, if the request has one, the customer's session. A slug that is unknown is not found, and a
 * portal is off if its seller says so, or is suspended.
 */
const authenticateCustomer = async (c: Context<AppEnv>, needsSession: boolean): Promise<AppError | null> => {
  admitVisitor(c);
  const portal = await findPortal(firstDatabase(c.env), (c.req.param('slug') ?? '').toLowerCase());
  if (!portal) return new AppError('not_found', { message: 'Portal Not Found' });
  const cookie = getCookie(c, cookieName(c));
  const isCrossSite = !isSameOrigin(c);
  const tokenHash = cookie === undefined || isCrossSite ? null : hashSession(c, cookie);
  const ctx = accountCtx(c, portal.accountId, { kind: 'customer', id: null });
  const { session, isServing } = await findSession(ctx, tokenHash);
  if (!portal.enabled || !isServing) return new AppError('portal_disabled', { message: 'The Portal Is Off' });
  if (isCrossSite && (cookie !== undefined || c.req.method !== 'GET'))
    return new AppError('origin_not_allowed');
  c.set('portal', { row: portal, customer: session });
  if (!session) {
    c.set('ctx', ctx);
    return needsSession ? new AppError('portal_session_required') : null;
  }
  c.set('ctx', { ...ctx, actor: { kind: 'customer', id: session.id } });
  if (isSeenDue(session)) c.executionCtx.waitUntil(noteSeen(ctx, session.tokenHash));
  return null;
};

/**
 * Describes a route of the portal: who may call it, and what it reads. Only the portal's own page calls it, so docs/portal.md has
 * it, and the API document doesn't.
 */
export const portalEndpoint =
  <const I extends Inputs>(
    who: 'anybody' | 'customer',
    inputs: I,
  ): MiddlewareHandler<AppEnv, string, InputOf<I>> =>
  async (c, next) => {
    const refusal = await authenticateCustomer(c, who === 'customer');
    if (refusal) return errorResponse(c, refusal);
    await readInputs(c, inputs);
    return next();
  };

export const portalCtx = (c: Context<AppEnv>): PortalCtx => ({ ...c.var.ctx, portal: c.get('portal').row });

/** For operations of the customer who is signed in. */
export const customerCtx = (c: Context<AppEnv>): CustomerCtx => {
  const { customer } = c.get('portal');
  if (!customer) throw new AppError('portal_session_required');
  return { ...portalCtx(c), customer };
};
