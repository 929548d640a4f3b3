import { eq, type SQL, sql } from 'drizzle-orm';
import type * as z from 'zod';
import { auditFirst } from '../audit/audit.ts';
import { getAccount } from '../db/account.ts';
import { type FirstDatabase, firstDatabase } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { violatesNotNull, violatesUnique } from '../db/errors.ts';
import { type PortalRow, portals } from '../db/schema.ts';
import { AppError, invalidField } from '../shared/app-error.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../shared/rules/dates.ts';
import { DEFAULT_PERMISSIONS, fullColor } from '../shared/rules/portal.ts';
import { omitUndefined } from '../shared/schemas/omit-undefined.ts';
import { portalSettingsLimits } from '../users/limits.ts';
import { consumeAttempts } from '../users/throttle.ts';
import type { putPortalInput } from './schemas.ts';

// The settings are in the first database, as users are: only there can a slug be unique among the accounts of all databases.

/** How long nobody else gets a slug that a portal has had. */
const FORMER_MS = 30 * DAY_MS;
/** For this long, a new slug may be replaced without being kept. The former one is kept this much longer, which shows that it is new. */
const SECOND_THOUGHTS_MS = HOUR_MS;

const NO_PORTAL: PortalRow = {
  accountId: '',
  slug: null,
  formerSlug: null,
  formerUntil: null,
  enabled: false,
  name: null,
  accentColor: null,
  supportUrl: null,
  allow: DEFAULT_PERMISSIONS,
  products: {},
  createdAt: 0,
  updatedAt: 0,
};

const findByAccount = async (firstDb: FirstDatabase, accountId: string) =>
  firstDb.select().from(portals).where(eq(portals.accountId, accountId)).get();

/** Returns the account's settings, or those of an account that has never set any. */
export const getPortal = async ({ env, accountId }: Pick<Ctx, 'env' | 'accountId'>): Promise<PortalRow> =>
  (await findByAccount(firstDatabase(env), accountId)) ?? { ...NO_PORTAL, accountId };

/** Returns the portal of a slug, also one that is off. */
export const findPortal = async (firstDb: FirstDatabase, slug: string): Promise<PortalRow | undefined> =>
  firstDb.select().from(portals).where(eq(portals.slug, slug)).get();

/** The account's id, or null, which the column refuses, while the slug is kept for the portal that has had it. */
const accountUnlessKept = (accountId: string, slug: string | null, nowMs: number) =>
  sql<string>`iif(EXISTS (
    SELECT 1 FROM portals WHERE former_slug = ${slug} AND former_until > ${nowMs} AND account_id <> ${accountId}
  ), NULL, ${accountId})`;

const settingsOf = async (ctx: Ctx, input: z.output<typeof putPortalInput>, current: PortalRow) => {
  const { enabled = false, slug = current.slug, allow, products } = input;
  if (enabled && slug === null) throw invalidField('slug', 'is required for a portal that is on');
  const name = input.name === undefined ? current.name : input.name;
  return {
    enabled,
    slug,
    name: name ?? (enabled ? ((await getAccount(ctx)).name ?? slug) : null),
    accentColor: input.accent_color ? fullColor(input.accent_color) : null,
    supportUrl: input.support_url ?? null,
    allow: { ...DEFAULT_PERMISSIONS, ...omitUndefined(allow ?? {}) },
    products: Object.fromEntries(
      Object.entries(products ?? {}).map(([code, permissions]) => [code, omitUndefined(permissions)]),
    ),
  };
};

/**
 * What an upsert does to the former slug. Only one is kept, and customers have links to it. Until it is free, a portal may go back to
 * it, or replace a slug that it took less than an hour ago, and nothing else.
 */
const renaming = (nowMs: number) => {
  const isRenamed = sql`portals.slug IS NOT NULL AND portals.slug IS NOT excluded.slug`;
  const isBack = sql`ifnull(portals.former_slug = excluded.slug, 0)`;
  // A slug that was cleared and taken again is its own former slug, and blocks nothing.
  const isKept = sql`ifnull(portals.former_until > ${nowMs} AND portals.former_slug <> portals.slug, 0)`;
  const isJustTaken = sql`ifnull(portals.former_until > ${nowMs + FORMER_MS}, 0)`;
  const untilMs = sql`${nowMs + FORMER_MS} + iif(${isBack}, 0, ${SECOND_THOUGHTS_MS})`;
  const former = (present: SQL, given: SQL) => sql<null>`CASE
    WHEN NOT (${isRenamed}) THEN ${present}
    WHEN ${isJustTaken} THEN iif(${isBack}, NULL, ${present})
    ELSE ${given} END`;
  return {
    isRefused: sql`${isRenamed} AND ${isKept} AND NOT ${isJustTaken} AND NOT ${isBack}`,
    formerSlug: former(sql`portals.former_slug`, sql`portals.slug`),
    formerUntil: former(sql`portals.former_until`, untilMs),
  };
};

/** The error for a rename that would leave a slug to others too early. */
const stillKept = ({ formerSlug, formerUntil }: PortalRow) =>
  new AppError('invalid_transition', {
    message: `Your customers may still have links with “${formerSlug}”, which is kept for you until ${isoTime(formerUntil ?? 0)}. Until then, the slug can only be changed back to it.`,
  });

/** Replaces the settings. Of the slug and the name, what isn't sent stays. */
export const putPortal = async (ctx: Ctx, input: z.output<typeof putPortalInput>): Promise<PortalRow> => {
  const { env, accountId } = ctx;
  const firstDb = firstDatabase(env);
  await consumeAttempts({ firstDb }, portalSettingsLimits(accountId));
  const settings = await settingsOf(ctx, input, await getPortal(ctx));
  const nowMs = Date.now();
  const { isRefused, formerSlug, formerUntil } = renaming(nowMs);
  try {
    const [[row]] = await firstDb.batch([
      firstDb
        .insert(portals)
        .values({
          ...settings,
          accountId: accountUnlessKept(accountId, settings.slug, nowMs),
          createdAt: nowMs,
          updatedAt: nowMs,
        })
        .onConflictDoUpdate({
          target: portals.accountId,
          set: {
            ...settings,
            // Null, which the column refuses, for a rename that isn't possible yet.
            updatedAt: sql`iif(${isRefused}, NULL, ${nowMs})`,
            formerSlug,
            formerUntil,
          },
        })
        .returning(),
      auditFirst(ctx, 'portal.update', null, { enabled: settings.enabled }),
    ]);
    if (!row) throw new AppError('unavailable');
    return row;
  } catch (error) {
    if (violatesNotNull(error, 'portals.updated_at')) throw stillKept(await getPortal(ctx));
    const isTaken = violatesUnique(error, 'portals.slug') || violatesNotNull(error, 'portals.account_id');
    throw isTaken ? new AppError('slug_taken') : error;
  }
};
