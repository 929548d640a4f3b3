import { and, asc, eq, or, type SQL, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { inJson } from '../db/json-rows.ts';
import {
  type ErasureRow,
  idempotencyKeys,
  licenseChanges,
  licenses,
  portalEmailChanges,
  portalSessions,
  portalTokens,
} from '../db/schema.ts';
import type { FeedChange } from '../gate/feed/write.ts';
import { commit } from '../gate/worker/commit.ts';
import type { Person } from '../shared/text/scrub.ts';
import { findNamed, licensesOf, MAX_LICENSES, savePosition, type SpendQueries } from './find-licenses.ts';
import {
  deleteEmptied,
  forgetClaims,
  noteMachines,
  updateHistory,
  updateLicenses,
} from './license-statements.ts';
import { erasePurchases, erasePurchasesOf } from './purchases.ts';
import { scrubLicense } from './scrub-license.ts';
import { scrubSellerTexts } from './seller-texts.ts';

// Erases a customer from the rows in D1. Each commit takes some licenses with their history, and notes that the gate still
// has the names of their machines. What is left is found again, so a run that was cut off can be repeated.

/** Ends a customer's sessions, links, and codes in the portal, and what is under way to change their address. */
const erasePortalRows = ({ db, accountId }: Ctx, email: string) =>
  db.batch([
    db
      .delete(portalSessions)
      .where(and(eq(portalSessions.accountId, accountId), eq(portalSessions.email, email))),
    db.delete(portalTokens).where(and(eq(portalTokens.accountId, accountId), eq(portalTokens.email, email))),
    db
      .delete(portalEmailChanges)
      .where(
        and(
          eq(portalEmailChanges.accountId, accountId),
          or(eq(portalEmailChanges.email, email), eq(portalEmailChanges.newEmail, email)),
        ),
      ),
  ]);

/** History rows in a commit, each with metadata. */
const MAX_CHANGES = 2_000;
/** What a commit makes, about. */
const QUERIES_PER_COMMIT = 20;

/** Whom to erase, and the texts that are about no customer. */
interface Erased extends Person {
  shared: ReadonlySet<string>;
}

/** Reads licenses with their whole history, as many as fit into a commit. */
const readLicenses = async ({ db, accountId }: Ctx, ids: string[]) => {
  const among = inJson(ids);
  const [found, history] = await db.batch([
    db
      .select()
      .from(licenses)
      .where(and(eq(licenses.accountId, accountId), sql`${licenses.id} ${among}`))
      .orderBy(asc(licenses.id)),
    db
      .select()
      .from(licenseChanges)
      .where(and(eq(licenseChanges.accountId, accountId), sql`${licenseChanges.licenseId} ${among}`))
      .orderBy(asc(licenseChanges.licenseId), asc(licenseChanges.seq))
      .limit(MAX_CHANGES),
  ]);
  const changes = Map.groupBy(history, ({ licenseId }) => licenseId);
  // The history of the last license may go on.
  const endId = history.length === MAX_CHANGES ? history.at(-1)?.licenseId : undefined;
  const isRead = (id: string) => endId === undefined || id < endId;
  return { found: found.filter(({ id }) => isRead(id)), changes, later: ids.filter((id) => !isRead(id)) };
};

/** Erases the customer from licenses. Returns the ids of the changed ones, and of those that are left. */
const scrub = async (ctx: Ctx, ids: string[], person: Erased) => {
  const nowMs = Date.now();
  const { found, changes, later } = await readLicenses(ctx, ids);
  const scrubbed = found
    .map((license) => {
      const { id, seq, updatedAt } = license;
      return { id, seq, updatedAt, ...scrubLicense(license, changes.get(id) ?? [], person, person.shared) };
    })
    // Another address may contain this one.
    .filter(({ isChanged }) => isChanged);
  const touched = scrubbed.map(({ id }) => id);
  const [first, ...others] = touched.map((id): FeedChange => ({ kind: 'license', ref: id }));
  if (!first) return { changed: 0, left: later };
  const rows = scrubbed.flatMap(({ id, updatedAt, changes: ofLicense }) =>
    ofLicense.map((row) => ({ ...row, id, updatedAt })),
  );
  const updates = updateLicenses(
    ctx,
    scrubbed.map(({ id, seq, updatedAt, license }) => ({ id, seq, updatedAt, ...license })),
    nowMs,
  );
  const results: unknown[] = await commit(
    ctx,
    [
      noteMachines(ctx, scrubbed, nowMs),
      forgetClaims(ctx, scrubbed),
      ...updateHistory(ctx, rows),
      ...updates,
      deleteEmptied(ctx, touched),
    ],
    [first, ...others],
    { isBeyondLimits: true },
  );
  const updated = new Set(
    (results.slice(-updates.length - 1, -1) as { id: string }[][]).flat().map(({ id }) => id),
  );
  const conflicts = touched.filter((id) => !updated.has(id));
  return { changed: updated.size, left: [...conflicts, ...later] };
};

const scrubAll = async (ctx: Ctx, ids: string[], person: Erased, spend: SpendQueries): Promise<number> => {
  let count = 0;
  for (let left = ids; left.length > 0;) {
    spend(QUERIES_PER_COMMIT);
    const scrubbed = await scrub(ctx, left, person);
    count += scrubbed.changed;
    left = scrubbed.left;
  }
  return count;
};

/** Erases the customer from D1. Returns the number of licenses. A repeat goes on at the position where this was cut off. */
export const eraseCustomerRows = async (
  ctx: Ctx,
  { subject: email, names, position }: Pick<ErasureRow, 'subject' | 'names' | 'position'>,
  spend: SpendQueries,
): Promise<number> => {
  const { db, accountId } = ctx;
  spend(2);
  const person = { email, names, shared: await scrubSellerTexts(ctx, email) };
  let count = 0;
  for (;;) {
    spend(1);
    const found = await licensesOf(ctx, email).limit(MAX_LICENSES);
    if (found.length === 0) break;
    const ids = found.map(({ id }) => id);
    await erasePurchasesOf(ctx, email, ids, spend);
    count += await scrubAll(ctx, ids, person, spend);
  }
  for await (const ids of findNamed(ctx, email, position, spend))
    count += await scrubAll(ctx, ids, person, spend);
  spend(3);
  await erasePortalRows(ctx, email);
  await erasePurchases(ctx, person, spend);
  const namesCustomer: SQL = sql`instr(lower(${idempotencyKeys.key}), ${email})`;
  await db.batch([
    db.delete(idempotencyKeys).where(and(eq(idempotencyKeys.accountId, accountId), namesCustomer)),
    // The next call begins anew: it erases also what comes back while this one goes on elsewhere.
    savePosition(ctx, email, ''),
  ]);
  return count;
};
