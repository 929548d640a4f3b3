import { type Context, Hono } from 'hono';
import { audit } from '../audit/audit.ts';
import { clientOf } from '../auth/client.ts';
import { endpoint } from '../auth/endpoint.ts';
import {
  clearPortalCookie,
  customerCtx,
  portalCtx,
  portalEndpoint,
  setPortalCookie,
} from '../auth/portal.ts';
import { type AppEnv, completed, publicCtx } from '../http/context.ts';
import { confirmChange } from '../self-service/change-email.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { openPortal } from './open.ts';
import {
  listSessionsQuery,
  openPortalInput,
  portalBody,
  portalLinkBody,
  putPortalInput,
  sessionInput,
  signInInput,
  toPortal,
  toPortalPage,
} from './schemas.ts';
import { endSessions, listSessions } from './sessions.ts';
import { getPortal, putPortal } from './settings.ts';
import { sendSignIn, startSession } from './sign-in.ts';

const ACCEPTED = { accepted: true } as const;

/** What the seller sets, and how an application opens the portal. */
export const portalSettingsRoutes = new Hono<AppEnv>()
  .get(
    '/portal',
    endpoint({
      id: 'getPortal',
      tag: 'Portal',
      summary: 'Get the portal’s settings',
      access: 'account',
      answers: [{ status: 200, description: 'The settings.', schema: portalBody }],
    }),
    async (c) => c.json(toPortal(await getPortal(c.var.ctx), clientOf(c).origin), 200),
  )
  .put(
    '/portal',
    endpoint({
      id: 'putPortal',
      tag: 'Portal',
      summary: 'Replace the portal’s settings',
      description:
        'Switches the page for your customers on or off, and says what they may do there. What isn’t sent gets its default, but `slug` and `name` stay. A slug that you give up is kept for you for 30 days, in which you can go back to it. Another new slug is possible within an hour, or once the 30 days are over. At most 60 times an hour.',
      access: 'account',
      body: putPortalInput,
      answers: [{ status: 200, description: 'The new settings.', schema: portalBody }],
      errors: ['slug_taken', 'invalid_transition'],
    }),
    async (c) => c.json(toPortal(await putPortal(c.var.ctx, c.req.valid('json')), clientOf(c).origin), 200),
  );

export const portalLinkRoutes = new Hono<AppEnv>().post(
  '/portal-sessions',
  endpoint({
    id: 'createPortalSession',
    tag: 'Portal',
    summary: 'Open the portal for a customer',
    description:
      'Returns a link that signs the customer in, for “Manage license” in your application. It works once, for five minutes, so request it when it is opened. With `license_id`, the customer sees that license alone, and with `customer_email` all that the address has.',
    access: 'account',
    body: openPortalInput,
    answers: [{ status: 200, description: 'The link.', schema: portalLinkBody }],
    errors: ['license_not_found', 'not_found', 'portal_disabled'],
  }),
  async (c) => {
    const { url, expiresAt } = await openPortal(c.var.ctx, c.req.valid('json'), clientOf(c).origin);
    return c.json({ url, expires_at: isoTime(expiresAt) }, 200);
  },
);

/** Signing in and out. */
const signInRoutes = new Hono<AppEnv>()
  .get('/', portalEndpoint('anybody', {}), (c) => c.json(toPortalPage(c.get('portal').row), 200))
  .post('/sign-in', portalEndpoint('anybody', { body: signInInput }), (c) => {
    c.executionCtx.waitUntil(sendSignIn(portalCtx(c), c.req.valid('json'), clientOf(c)));
    return c.json(ACCEPTED, 202);
  })
  .post('/session', portalEndpoint('anybody', { body: sessionInput }), async (c) => {
    const begun = await completed(
      c,
      startSession(portalCtx(c), publicCtx(c), c.req.valid('json'), clientOf(c)),
    );
    const change = await completed(c, confirmChange(begun.ctx, begun.used));
    setPortalCookie(c, begun);
    return c.json(
      {
        email: begun.used.email,
        expires_at: isoTime(begun.expiresAt),
        return_url: begun.used.returnUrl,
        email_change: change,
      },
      200,
    );
  });

const endingSessions = (c: Context<AppEnv>, which: 'present' | 'all') => {
  const ctx = customerCtx(c);
  return ctx.db.batch([endSessions(ctx, which), audit(ctx, 'customer.sign_out', null)]);
};

const sessionRoutes = new Hono<AppEnv>()
  .delete('/session', portalEndpoint('customer', {}), async (c) => {
    const [ended] = await endingSessions(c, 'present');
    clearPortalCookie(c);
    return c.json({ ended: ended.length }, 200);
  })
  .get('/sessions', portalEndpoint('customer', { query: listSessionsQuery }), async (c) =>
    c.json(await listSessions(customerCtx(c), c.req.valid('query')), 200),
  )
  .delete('/sessions', portalEndpoint('customer', {}), async (c) => {
    const [ended] = await endingSessions(c, 'all');
    clearPortalCookie(c);
    return c.json({ ended: ended.length }, 200);
  });

export const portalRoutes = new Hono<AppEnv>().route('/', signInRoutes).route('/', sessionRoutes);
