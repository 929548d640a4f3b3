import { and, eq, gt, isNull, lte, or, sql } from 'drizzle-orm';
import type { DatabaseCtx } from '../db/ctx.ts';
import { planLimit } from '../db/plan-limit.ts';
import { deletePosition, findPositions, savePosition } from '../db/positions.ts';
import { accounts, licenseTotals } from '../db/schema.ts';
import { storageLimitOf, storedBytes } from '../db/storage.ts';
import { limitNear } from '../mail/account-templates.ts';
import { openOwner } from '../mail/owner.ts';
import { logError } from '../shared/text/log.ts';

// Tells the owner at 90 % of a limit, before anything is refused: once for a limit, and again after 80 % or less.

const TELL_PERCENT = 90;
const FORGET_PERCENT = 80;

/** The accounts of a page. A page reads that many rows, by their key. */
const PAGE = 2_000;
/** The most accounts of a page that are told. The next hour continues. */
const MAX_TOLD = 25;
/** A run ends after so many pages, or once it has told so many. A page takes four of D1's 1,000 queries, and an account eleven. */
const MAX_PAGES = 50;

const WORK = 'tell_nearly_full';

type Position = Pick<Page, 'after'>;

const { licenses, toldLicenses, toldBytes } = licenseTotals;

/** The accounts after one, through another. */
interface Page {
  after: string;
  through: string;
}

const readPage = async ({ db }: DatabaseCtx, after: string): Promise<Page | null> => {
  const [page] = await db.all<{ through: string | null }>(sql`
    SELECT max(account_id) AS through
    FROM (SELECT account_id FROM license_totals WHERE account_id > ${after} ORDER BY account_id LIMIT ${PAGE})`);
  return page?.through ? { after, through: page.through } : null;
};

const isIn = ({ after, through }: Page) =>
  and(gt(licenseTotals.accountId, after), lte(licenseTotals.accountId, through));

const findNearlyFull = ({ env, db }: DatabaseCtx, page: Page, nowMs: number) => {
  const licenseLimit = planLimit(env, 'licenseLimit', nowMs);
  const byteLimit = storageLimitOf(env, nowMs);
  return db
    .select({
      accountId: accounts.id,
      licenses,
      licenseLimit,
      bytes: storedBytes,
      byteLimit,
      toldLicenses,
      toldBytes,
    })
    .from(licenseTotals)
    .innerJoin(accounts, eq(accounts.id, licenseTotals.accountId))
    .where(
      and(
        isIn(page),
        isNull(accounts.eraseAt),
        or(
          sql`${licenses} * 100 >= ${licenseLimit} * ${TELL_PERCENT} AND ${toldLicenses} IS NOT ${licenseLimit}`,
          sql`${storedBytes} * 100 >= ${byteLimit} * ${TELL_PERCENT} AND ${toldBytes} IS NOT ${byteLimit}`,
        ),
      ),
    )
    .limit(MAX_TOLD);
};

type NearlyFull = Awaited<ReturnType<typeof findNearlyFull>>[number];

const isNear = (used: number, limit: number, told: number | null) =>
  used * 100 >= limit * TELL_PERCENT && told !== limit;

/** Notes it afterwards, and only what was told, so that no email is lost. */
const tell = async ({ env, db }: DatabaseCtx, account: NearlyFull): Promise<void> => {
  const { accountId, licenseLimit, byteLimit, bytes } = account;
  const tellOwner = await openOwner(env, accountId);
  const tellOf = async (what: 'licenses' | 'storage', used: number, limit: number, told: number | null) =>
    isNear(used, limit, told) && (await tellOwner('limits', limitNear(what, used, limit))) ? limit : told;
  const told = {
    toldLicenses: await tellOf('licenses', account.licenses, licenseLimit, account.toldLicenses),
    toldBytes: await tellOf('storage', bytes, byteLimit, account.toldBytes),
  };
  await db.update(licenseTotals).set(told).where(eq(licenseTotals.accountId, accountId));
};

/** An account that has shrunk is told again when it has grown. */
const forgetShrunk = ({ db }: DatabaseCtx, page: Page) => {
  const hasFewer = sql`licenses * 100 <= told_licenses * ${FORGET_PERCENT}`;
  const hasLess = sql`(bytes + machine_bytes) * 100 <= told_bytes * ${FORGET_PERCENT}`;
  return db
    .update(licenseTotals)
    .set({
      toldLicenses: sql`iif(${hasFewer}, NULL, told_licenses)`,
      toldBytes: sql`iif(${hasLess}, NULL, told_bytes)`,
    })
    .where(and(isIn(page), or(hasFewer, hasLess)));
};

/** Returns how many accounts it has tried to tell. */
const tellPage = async (ctx: DatabaseCtx, page: Page): Promise<number> => {
  await forgetShrunk(ctx, page);
  const found = await findNearlyFull(ctx, page, Date.now());
  for (const account of found) {
    try {
      await tell(ctx, account);
    } catch (error) {
      logError('limit_not_told', error, { account_id: account.accountId });
    }
  }
  return found.length;
};

/** Tells who is due: the scheduled work runs every hour. Returns whether there are pages left, of which each is read once. */
export const tellOfNearlyFull = async (ctx: DatabaseCtx): Promise<boolean> => {
  const { db } = ctx;
  const stored = (await findPositions<Position>(db, [WORK])).get(WORK);
  let after = stored?.after ?? '';
  for (let pages = 0, told = 0; pages < MAX_PAGES && told < MAX_TOLD; pages++) {
    const page = await readPage(ctx, after);
    if (!page) {
      if (stored) await deletePosition(db, WORK);
      return false;
    }
    told += await tellPage(ctx, page);
    after = page.through;
  }
  await savePosition(db, WORK, { after } satisfies Position);
  return true;
};
