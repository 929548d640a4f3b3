import { Hono } from 'hono';
import * as z from 'zod';
import { endpoint } from '../auth/endpoint.ts';
import { type AppEnv, userCtx } from '../http/context.ts';
import { pageQuery, toPage } from '../shared/schemas/lists.ts';
import { endedSessionBody, endedSessionsBody, sessionListBody, toSession } from './schemas.ts';
import { listSessions, endOthers, endSessionById } from './sessions.ts';

export const sessionRoutes = new Hono<AppEnv>()
  .get(
    '/',
    endpoint({
      id: 'listSessions',
      tag: 'Account',
      summary: 'List the sessions',
      access: 'account',
      query: z.object(pageQuery('ses')),
      answers: [
        { status: 200, description: 'A page of the sessions, newest first.', schema: sessionListBody },
      ],
    }),
    async (c) => {
      const input = c.req.valid('query');
      const rows = await listSessions(userCtx(c), input);
      const hash = c.get('sessionHash') ?? null;
      return c.json(
        toPage(rows, input.limit, (row) => toSession(row, hash)),
        200,
      );
    },
  )
  .delete(
    '/',
    endpoint({
      id: 'endOtherSessions',
      tag: 'Account',
      summary: 'End all other sessions',
      description: 'With an API key, all sessions end.',
      access: 'account',
      answers: [{ status: 200, description: 'The sessions have ended.', schema: endedSessionsBody }],
    }),
    async (c) => c.json({ ended: await endOthers(userCtx(c), c.get('sessionHash') ?? null) }, 200),
  )
  .delete(
    '/:id',
    endpoint({
      id: 'endSession',
      tag: 'Account',
      summary: 'End a session',
      access: 'account',
      answers: [{ status: 200, description: 'The session has ended.', schema: endedSessionBody }],
      errors: ['not_found'],
    }),
    async (c) => {
      const id = c.req.param('id');
      await endSessionById(userCtx(c), id);
      return c.json({ id, deleted: true as const }, 200);
    },
  );
