import * as z from 'zod';
import { isoTime } from '../shared/rules/dates.ts';
import { listOf } from '../shared/schemas/lists.ts';
import type { SessionRow } from './sessions.ts';

export const sessionBody = z
  .object({
    id: z.string(),
    created_at: z.iso.datetime(),
    last_seen_at: z.iso.datetime().meta({ description: 'Brought up to date once an hour.' }),
    ip: z.string().nullable(),
    user_agent: z.string().nullable(),
    current: z.boolean().meta({ description: 'Whether this session makes the call.' }),
  })
  .meta({ id: 'Session' });

export const sessionListBody = listOf(sessionBody).meta({ id: 'SessionList' });

export const endedSessionBody = z
  .object({ id: z.string(), deleted: z.literal(true) })
  .meta({ id: 'EndedSession' });

export const endedSessionsBody = z
  .object({ ended: z.int().meta({ description: 'How many sessions have ended.' }) })
  .meta({ id: 'EndedSessions' });

export const toSession = (row: SessionRow, sessionHash: string | null): z.infer<typeof sessionBody> => ({
  id: row.id,
  created_at: isoTime(row.createdAt),
  last_seen_at: isoTime(row.lastSeenAt),
  ip: row.ip,
  user_agent: row.userAgent,
  current: row.tokenHash === sessionHash,
});
