import { Hono } from 'hono';
import { endpoint } from '../auth/endpoint.ts';
import type { AppEnv } from '../http/context.ts';
import { listAuditLog } from './list.ts';
import { auditLogBody, auditLogQuery } from './schemas.ts';

export const auditRoutes = new Hono<AppEnv>().get(
  '/audit-log',
  endpoint({
    id: 'listAuditLog',
    tag: 'Account',
    summary: 'List who did what',
    description:
      'Lists what was changed in the account, and who revealed a secret, newest first. What the same caller reads again within an hour leaves one entry. Entries are kept for a year. A page with an `action` can be short, or empty, while `next_cursor` leads on.',
    access: 'account',
    query: auditLogQuery,
    answers: [{ status: 200, description: 'A page of entries.', schema: auditLogBody }],
  }),
  async (c) => c.json(await listAuditLog(c.var.ctx, c.req.valid('query')), 200),
);
