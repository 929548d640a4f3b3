import * as z from 'zod';
import type { AuditRow } from '../db/schema.ts';
import { ACTOR_KINDS, AUDIT_ACTIONS } from '../shared/rules/audit.ts';
import { DAY_MS, isoTime } from '../shared/rules/dates.ts';
import { listOf, pageQuery } from '../shared/schemas/lists.ts';
import { idPattern, idTimeMs } from '../shared/text/ids.ts';

const action = z.enum(AUDIT_ACTIONS);

const timeOrDate = z.union([z.iso.datetime(), z.iso.date()]);

export const auditLogQuery = z.object({
  ...pageQuery('aud'),
  id: z.string().regex(idPattern('aud')).optional().meta({ description: 'Only this entry.' }),
  action: action.optional(),
  from: timeOrDate
    .transform((text) => Date.parse(text))
    .optional()
    .meta({ description: 'The earliest time, or the first day in UTC.' }),
  to: timeOrDate
    .transform((text) => Date.parse(text) + (text.includes('T') ? 1 : DAY_MS))
    .optional()
    .meta({ description: 'The latest time, or the last day in UTC.' }),
});

/** The same in the audit log and in a license's history. */
export const actorBody = z.object({ kind: z.enum(ACTOR_KINDS), id: z.string().nullable() });

export const auditEntryBody = z
  .object({
    id: z.string(),
    at: z.iso.datetime(),
    action,
    actor: actorBody.meta({
      description: 'Who did it, with the id of the session or API key. `system` is the service.',
    }),
    target: z.string().nullable().meta({
      description: 'The id of what was changed, or the code of a product. Null if it is the account.',
    }),
    ip: z.string().nullable().meta({
      description:
        'The caller’s IP address, if there was a caller. For a customer, who acts in the portal, only the network of the address.',
    }),
    details: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).nullable())
      .meta({ description: 'More about the action, such as the names of changed fields.' }),
  })
  .meta({ id: 'AuditEntry' });

export const auditLogBody = listOf(auditEntryBody).meta({ id: 'AuditLog' });

export const toAuditEntry = (row: AuditRow): z.infer<typeof auditEntryBody> => ({
  id: row.id,
  at: isoTime(idTimeMs(row.id)),
  action: row.action,
  actor: { kind: row.actorKind, id: row.actorId },
  target: row.target,
  ip: row.ip,
  details: row.details ?? {},
});
