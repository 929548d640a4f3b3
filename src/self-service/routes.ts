import { Hono } from 'hono';
import * as z from 'zod';
import { clientOf } from '../auth/client.ts';
import { customerCtx, portalEndpoint } from '../auth/portal.ts';
import type { AppEnv } from '../http/context.ts';
import { numberedPageQuery, pageQuery } from '../shared/schemas/lists.ts';
import { requestEmailChange } from './change-email.ts';
import {
  changeKey,
  getLicense,
  issueFile,
  listLicenses,
  releaseSeat,
  resendKeys,
  revealKey,
} from './licenses.ts';
import { customersEmailInput, fileInput } from './schemas.ts';
import { openStorePage } from './store-link.ts';

const ACCEPTED = { accepted: true } as const;

/** What a customer sees, and does by themselves. */
export const selfServiceRoutes = new Hono<AppEnv>()
  .get('/licenses', portalEndpoint('customer', { query: z.object(numberedPageQuery) }), async (c) =>
    c.json(await listLicenses(customerCtx(c), c.req.valid('query')), 200),
  )
  .get('/licenses/:id', portalEndpoint('customer', { query: z.object(pageQuery('act')) }), async (c) =>
    c.json(await getLicense(customerCtx(c), c.req.param('id'), c.req.valid('query')), 200),
  )
  .get('/licenses/:id/key', portalEndpoint('customer', {}), async (c) =>
    c.json({ license_key: await revealKey(customerCtx(c), c.req.param('id')) }, 200),
  )
  .delete('/licenses/:id/activations/:activation_id', portalEndpoint('customer', {}), async (c) => {
    const id = c.req.param('activation_id');
    await releaseSeat(customerCtx(c), c.req.param('id'), id);
    return c.json({ id, deleted: true as const }, 200);
  })
  .post('/licenses/:id/token', portalEndpoint('customer', { body: fileInput }), async (c) => {
    const { fingerprint, request_code: code } = c.req.valid('json');
    const { origin } = new URL(c.req.url);
    return c.json(await issueFile(customerCtx(c), c.req.param('id'), fingerprint ?? code ?? '', origin), 200);
  })
  .post('/licenses/:id/rotate-key', portalEndpoint('customer', {}), async (c) =>
    c.json(await changeKey(customerCtx(c), c.req.param('id')), 200),
  )
  .post('/licenses/:id/store-link', portalEndpoint('customer', {}), async (c) =>
    c.json({ url: await openStorePage(customerCtx(c), c.req.param('id')) }, 200),
  )
  .post('/resend-keys', portalEndpoint('customer', {}), async (c) => {
    const send = await resendKeys(customerCtx(c), clientOf(c).origin);
    c.executionCtx.waitUntil(send());
    return c.json(ACCEPTED, 202);
  })
  .post('/change-email', portalEndpoint('customer', { body: customersEmailInput }), async (c) => {
    const send = await requestEmailChange(customerCtx(c), c.req.valid('json').email, clientOf(c).origin);
    c.executionCtx.waitUntil(send());
    return c.json(ACCEPTED, 202);
  });
