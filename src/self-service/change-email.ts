import { and, asc, eq, gt, or, sql } from 'drizzle-orm';
import { auditAsRead, auditIf, untilAsRead } from '../audit/audit.ts';
import { firstDatabase } from '../db/client.ts';
import type { Ctx, DatabaseCtx } from '../db/ctx.ts';
import { deleteOldest } from '../db/prune.ts';
import {
  type EmailChangeRow,
  licenses,
  portalEmailChanges,
  portalTokens,
  type PortalTokenRow,
} from '../db/schema.ts';
import { eventChange, type FeedChange } from '../gate/feed/write.ts';
import { commit } from '../gate/worker/commit.ts';
import { changeEvent, recordChange } from '../licenses/history.ts';
import { assertMails, changeMail, mailCustomer, nameOf } from '../portal/mails.ts';
import { portalLink } from '../portal/schemas.ts';
import { type CustomerCtx, endSessionsOf, isCustomersLicense, portalDisabled } from '../portal/sessions.ts';
import { deleteExpiredTokens, insertToken, isTokenOf, newLink } from '../portal/tokens.ts';
import { AppError, invalidField } from '../shared/app-error.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import { isNobodys } from '../shared/rules/licenses.ts';
import { lowerAscii } from '../shared/rules/portal.ts';
import { newId } from '../shared/text/ids.ts';
import { logError } from '../shared/text/log.ts';
import { portalAddressLimits, recipientLimits } from '../users/limits.ts';
import { consumeAttempts } from '../users/throttle.ts';

// A customer's address is in their licenses alone. It changes in all of them once both addresses have confirmed: the old one,
// so that a stolen session can't take the licenses, and the new one, so that nobody loses them by a mistyped address.

const CHANGE_MS = DAY_MS;

const isConfirmed = sql`${portalEmailChanges.fromConfirmedAt} IS NOT NULL
  AND ${portalEmailChanges.toConfirmedAt} IS NOT NULL`;
const isUnconfirmed = sql`NOT (${isConfirmed})`;

/**
 * A confirmed change is both addresses' decision, so no session, which may be a thief's, stops it. And one for a single license
 * stops only that one's: licenses of several people may have one address, the seller's.
 */
const isReplaceable = (licenseId: string | null) => {
  const isOwn = licenseId === null ? sql`true` : eq(portalEmailChanges.licenseId, licenseId);
  return sql`${isUnconfirmed} AND (${isOwn} OR ${portalEmailChanges.expiresAt} < ${Date.now()})`;
};

const isRow = ({ accountId }: Ctx, email: string, id: string) =>
  and(
    eq(portalEmailChanges.accountId, accountId),
    eq(portalEmailChanges.email, email),
    eq(portalEmailChanges.id, id),
  );

/** Notes the change, and returns what sends the two emails after the response. It may replace an earlier one. */
export const requestEmailChange = async (ctx: CustomerCtx, typed: string, origin: string) => {
  await assertMails(ctx);
  const { db, accountId, customer, portal } = ctx;
  const { email, licenseId } = customer;
  if (!portal.allow.change_email) throw portalDisabled('The Seller Doesn’t Allow This in the Portal');
  const newEmail = lowerAscii(typed);
  if (newEmail === email) throw invalidField('email', 'is already the address of these licenses');
  const [license] = await db
    .select({ id: licenses.id })
    .from(licenses)
    .where(isCustomersLicense(ctx, customer))
    .limit(1);
  if (!license || isNobodys(email)) throw new AppError('license_not_found');
  // The new address may be anybody's, so its email counts as every other one does.
  const limits = [...portalAddressLimits(accountId, email, newEmail), ...recipientLimits(newEmail)];
  await consumeAttempts({ firstDb: firstDatabase(ctx.env) }, limits);
  const change = { id: newId('pch'), newEmail, licenseId, fromConfirmedAt: null, toConfirmedAt: null };
  const fields = { ...change, expiresAt: Date.now() + CHANGE_MS };
  const from = newLink(ctx, 'change_from', { email, changeId: change.id });
  const to = newLink(ctx, 'change_to', { email: newEmail, changeId: change.id });
  const target = [portalEmailChanges.accountId, portalEmailChanges.email];
  const isNoted = sql`EXISTS (SELECT 1 FROM ${portalEmailChanges} WHERE ${isRow(ctx, email, change.id)})`;
  const [noted] = await db.batch([
    db
      .insert(portalEmailChanges)
      .values({ accountId, email, ...fields })
      .onConflictDoUpdate({ target, set: fields, setWhere: isReplaceable(licenseId) })
      .returning({ id: portalEmailChanges.id }),
    // Those of the replaced change: this one's is stored once it is sent.
    db.delete(portalTokens).where(and(isTokenOf(ctx, email, 'change_from'), isNoted)),
    auditIf(ctx, isNoted, 'customer.request_email_change', licenseId),
    deleteExpiredChanges({ db, env: ctx.env }),
  ]);
  const message = 'A change of this address is already under way. Try again in a day.';
  if (noted.length === 0) throw new AppError('invalid_transition', { message });
  const send = (address: string, { token, row }: typeof from) => {
    const content = changeMail(
      nameOf(ctx),
      { email, newEmail },
      portalLink(origin, portal.slug ?? '', token),
    );
    return mailCustomer(ctx, address, content, () =>
      db.batch([insertToken(db, row), deleteExpiredTokens(db)]),
    );
  };
  return async () => {
    await send(email, from);
    await send(newEmail, to);
  };
};

/** Those that nobody has confirmed in time. A confirmed one stays until it is made. */
const deleteExpiredChanges = ({ db }: DatabaseCtx) =>
  deleteOldest(db, portalEmailChanges, {
    time: portalEmailChanges.expiresAt,
    throughMs: Date.now(),
    condition: isUnconfirmed,
    limit: 100,
  });

/** Each commit makes about twelve queries, and D1 allows 1,000 in a request. */
const LICENSES_PER_COMMIT = 100;
const COMMITS_PER_REQUEST = 8;

/** Gives some licenses the new address, in one commit. Returns how many there were. */
const changeSome = (ctx: Ctx, { email, newEmail, licenseId }: EmailChangeRow): Promise<number> =>
  untilAsRead(async () => {
    const { db, accountId } = ctx;
    const rows = await db
      .select()
      .from(licenses)
      .where(isCustomersLicense(ctx, { email, licenseId }))
      .orderBy(asc(licenses.seq))
      .limit(LICENSES_PER_COMMIT);
    const read = JSON.stringify(rows.map(({ id, updatedAt }) => ({ id, updatedAt })));
    const isAmong = and(
      eq(licenses.accountId, accountId),
      sql`${licenses.id} IN (SELECT value ->> 'id' FROM json_each(${read}))`,
    );
    const asRead = sql`(SELECT count(*) FROM json_each(${read}) CROSS JOIN licenses
      ON licenses.account_id = ${accountId} AND licenses.id = value ->> 'id'
      AND licenses.updated_at = value ->> 'updatedAt') = ${rows.length}`;
    const nowMs = Date.now();
    const fields = { customerEmail: newEmail };
    const changes = rows.flatMap((row): FeedChange[] => {
      const event = changeEvent(row, fields, Math.max(nowMs, row.updatedAt + 1));
      return [{ kind: 'license', ref: row.id }, ...(event ? [eventChange(event)] : [])];
    });
    const [first, ...others] = changes;
    if (!first) return 0;
    await commit(
      ctx,
      [
        auditAsRead(ctx, asRead, 'customer.change_email', licenseId, { licenses: rows.length }),
        recordChange(ctx, fields, nowMs, isAmong),
        db
          .update(licenses)
          .set({ ...fields, updatedAt: sql`max(${nowMs}, ${licenses.updatedAt} + 1)` })
          .where(isAmong),
      ],
      [first, ...others],
      // As for the release of a seat: a seller whose account is full locks no customer out.
      { isBeyondLimits: true },
    );
    return rows.length;
  });

/**
 * Ends the change, and every session that the old address has opened, also the one that has just confirmed: whoever reads its
 * mail has no licenses any more, and must not see what else the new address has.
 */
const finish = (ctx: Ctx, change: EmailChangeRow) => {
  const { db, accountId } = ctx;
  const isToken = and(
    eq(portalTokens.accountId, accountId),
    or(eq(portalTokens.email, change.email), eq(portalTokens.email, change.newEmail)),
    eq(portalTokens.changeId, change.id),
  );
  return db.batch([
    db.delete(portalEmailChanges).where(isRow(ctx, change.email, change.id)),
    ...(change.licenseId === null ? [endSessionsOf(ctx, change.email)] : []),
    db.delete(portalTokens).where(isToken),
  ]);
};

/** Makes a confirmed change, or as much of it as a request can. The scheduled work goes on with the rest. */
const carryOut = async (ctx: Ctx, change: EmailChangeRow): Promise<'under_way' | 'done'> => {
  for (let commits = 0; commits < COMMITS_PER_REQUEST; commits++) {
    if ((await changeSome(ctx, change)) < LICENSES_PER_COMMIT) {
      await finish(ctx, change);
      return 'done';
    }
  }
  return 'under_way';
};

/** Makes the change that a link has confirmed, if the other address has confirmed it, too. Returns what has become of it. */
export const confirmChange = async (
  ctx: Ctx,
  { changeId, email }: Pick<PortalTokenRow, 'changeId' | 'email'>,
): Promise<'waiting' | 'under_way' | 'done' | null> => {
  if (changeId === null) return null;
  const isChange = and(
    eq(portalEmailChanges.accountId, ctx.accountId),
    or(eq(portalEmailChanges.email, email), eq(portalEmailChanges.newEmail, email)),
    eq(portalEmailChanges.id, changeId),
  );
  const [change] = await ctx.db.select().from(portalEmailChanges).where(isChange);
  if (!change) return null;
  if (change.fromConfirmedAt === null || change.toConfirmedAt === null) return 'waiting';
  try {
    return await carryOut(ctx, change);
  } catch (error) {
    // The link is used up and both have confirmed, so the scheduled work makes the change.
    if (!(error instanceof AppError)) logError('email_change_not_made', error, { account_id: ctx.accountId });
    return 'under_way';
  }
};

/** The changes of a run. Each takes as many queries as in a request. */
const CHANGES_PER_RUN = 3;

/**
 * Returns the next confirmed changes, and puts them behind all others before they are tried. So one that fails, takes many runs,
 * or ends this one keeps no other from its turn.
 */
const takeDue = ({ db }: DatabaseCtx): Promise<EmailChangeRow[]> => {
  const { accountId, email, expiresAt } = portalEmailChanges;
  const due = db
    .select({ accountId, email })
    .from(portalEmailChanges)
    // Each has a later time than 0, but without this, SQLite would scan the index of confirmed changes and not search it.
    .where(and(isConfirmed, gt(expiresAt, 0)))
    .orderBy(asc(expiresAt))
    .limit(CHANGES_PER_RUN);
  return db
    .update(portalEmailChanges)
    .set({ expiresAt: Date.now() + CHANGE_MS })
    .where(sql`(${accountId}, ${email}) IN ${due}`)
    .returning();
};

/** Continues large changes and those that were cut off. More is due at once only after one is done: two may undo each other. */
export const finishEmailChanges = async ({ env, db }: DatabaseCtx): Promise<boolean> => {
  const customer = { key: null, actor: { kind: 'customer', id: null }, ip: null } as const;
  const due = await takeDue({ env, db });
  const made: ('under_way' | 'done')[] = [];
  for (const change of due) {
    try {
      made.push(await carryOut({ env, db, accountId: change.accountId, ...customer }, change));
    } catch (error) {
      logError('email_change_not_made', error, { account_id: change.accountId });
    }
  }
  return made.includes('done') && due.length === CHANGES_PER_RUN;
};
