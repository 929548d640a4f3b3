import * as z from 'zod';
import type { Orphans } from '../gate/rules/rows.ts';
import { isoTime, isoTimeOrNull } from '../shared/rules/dates.ts';
import { effectivePlan, PLAN_NAMES, storageLimit } from '../shared/rules/plans.ts';
import { email } from '../shared/schemas/fields.ts';
import { pageQuery, toPage } from '../shared/schemas/lists.ts';
import { idPattern } from '../shared/text/ids.ts';
import type { FoundAccount } from './accounts.ts';
import type { InvitationRow } from './invitations.ts';
import type { FoundUsage } from './usage.ts';

const MAX_QUERY_LENGTH = 254;

/** Reading the usage of an account is a call of its gate. */
const MAX_WITH_USAGE = 20;

export const accountsQuery = z
  .object({
    ...pageQuery('acct'),
    q: z.string().trim().max(MAX_QUERY_LENGTH).optional(),
    sort: z.literal('-storage').optional(),
    usage: z.enum(['true', 'false']).optional(),
  })
  .refine(({ sort, cursor }) => !sort || !cursor, {
    path: ['cursor'],
    message: 'can’t be combined with sort, which lists one page',
  })
  .refine(({ usage, limit }) => usage !== 'true' || limit <= MAX_WITH_USAGE, {
    path: ['limit'],
    message: `must be at most ${MAX_WITH_USAGE} with usage`,
  });

export const accountParam = z.object({ id: z.string().regex(idPattern('acct')) });

export const changeEmailInput = z.strictObject({ email });

export const grantInput = z
  .strictObject({
    plan: z.enum(PLAN_NAMES),
    until: z.iso
      .datetime({ offset: true })
      .refine((time) => Date.parse(time) > Date.now(), 'must be in the future')
      .nullish(),
  })
  .refine(({ plan, until }) => plan !== 'free' || !until, {
    path: ['until'],
    message: 'must be absent for the plan free, which ends the grant',
  });

export const moveDatabaseInput = z.strictObject({
  /** The binding of the database, as in `DATABASES`. */
  database: z.string().regex(/^\w{1,64}$/, 'must be the name of a D1 binding'),
});

const MAX_INVITATION_DAYS = 30;

export const inviteInput = z.strictObject({
  /** Lets only this address register. */
  email: email.nullish(),
  days: z.number().int().min(1).max(MAX_INVITATION_DAYS).default(7),
});

export const invitationsQuery = z.object(pageQuery('inv'));

export const invitationParam = z.object({ id: z.string().regex(idPattern('inv')) });

export const toInvitation = ({ id, email, createdAt, expiresAt }: InvitationRow) => ({
  id,
  email,
  created_at: isoTime(createdAt),
  expires_at: isoTime(expiresAt),
});

export const restoreQuery = z.object({ replace: z.enum(['true', 'false']).optional() });

export const resealInput = z.strictObject({
  /** Looks at every account's webhook secrets again, also if an earlier run has ended. */
  restart: z.boolean().default(false),
});

const toUsage = (usage: FoundUsage | null) =>
  usage && { api_usage: usage.apiUsage, api_limit: usage.apiLimit };

export const toOperatorAccount = ({
  account,
  licenses,
  bytes,
  usage,
  database,
  movingTo,
}: FoundAccount & { usage?: FoundUsage | null }) => ({
  id: account.id,
  email: account.email,
  name: account.name,
  plan: effectivePlan(account, Date.now()),
  granted_plan: account.grantedPlan,
  granted_until: isoTimeOrNull(account.grantedUntil),
  suspended_at: isoTimeOrNull(account.suspendedAt),
  home_region: account.homeRegion,
  database,
  moving_to: movingTo,
  licenses,
  storage: { used: bytes, limit: storageLimit(account, Date.now()) },
  created_at: isoTime(account.createdAt),
  ...(usage !== undefined && { usage: toUsage(usage) }),
});

export const toAccountPage = (rows: (FoundAccount & { usage?: FoundUsage | null })[], limit: number) =>
  toPage(
    rows.map((row) => ({ id: row.account.id, row })),
    limit,
    ({ row }) => toOperatorAccount(row),
  );

export const toOrphans = ({ licenses, apiKeyIds, products, total }: Orphans) => ({
  licenses: licenses.map(({ id, licenseKey, customerEmail, status, untilMs }) => ({
    id,
    license_key: licenseKey,
    customer_email: customerEmail,
    status,
    kept_until: isoTime(untilMs),
  })),
  api_key_ids: apiKeyIds,
  products,
  total,
});
