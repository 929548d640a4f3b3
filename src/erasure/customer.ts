import { and, eq, sql } from 'drizzle-orm';
import { audit } from '../audit/audit.ts';
import { auditReadIf } from '../audit/reads.ts';
import { firstDatabase } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { claimStatements } from '../db/idempotency.ts';
import { erasures, licenses } from '../db/schema.ts';
import { byColumn, columnOf, PERSONAL_FIELDS } from '../shared/rules/license-fields.ts';
import { erasureLimits } from '../users/limits.ts';
import { consumeAttempts } from '../users/throttle.ts';
import { licensesOf } from './find-licenses.ts';
import { type Erased, expectErasure, finishErasure } from './finish.ts';

/** Of a customer with more licenses, each license loses its own names in any case. */
const MAX_NAMED_LICENSES = 50;

/** Returns the names of the customer's licenses, and those that an erasure which was cut off has found. */
const collectNames = async (ctx: Ctx, email: string): Promise<string[]> => {
  const { db, accountId } = ctx;
  const isBegun = and(
    eq(erasures.accountId, accountId),
    eq(erasures.kind, 'customer'),
    eq(erasures.subject, email),
  );
  const isTheirs = and(eq(licenses.accountId, accountId), sql`lower(${licenses.customerEmail}) = ${email}`);
  const [[begun], rows] = await Promise.all([
    db.select({ names: erasures.names }).from(erasures).where(isBegun),
    db
      .select(byColumn(PERSONAL_FIELDS, (field) => licenses[columnOf(field)]))
      .from(licenses)
      .where(isTheirs)
      .limit(MAX_NAMED_LICENSES),
  ]);
  const names = [...(begun?.names ?? []), ...rows.flatMap((row) => Object.values(row))];
  return [...new Set(names.filter((name) => name !== null))].slice(0, 2 * MAX_NAMED_LICENSES);
};

/** What a repeat with the same Idempotency-Key gets: nothing else tells how much there was. */
export const readCounts = (claimed: string): Erased => JSON.parse(claimed) as Erased;

/** Keeps the counts for the Idempotency-Key, unless the key names the customer. */
const keepCounts = async (ctx: Ctx, names: string[], erased: Erased): Promise<void> => {
  const { db, idempotency } = ctx;
  if (!idempotency) return;
  const key = idempotency.key.toLowerCase();
  if (names.some((name) => key.includes(name.toLowerCase()))) return;
  const [first, ...others] = claimStatements(ctx, idempotency, JSON.stringify(erased));
  if (first) await db.batch([first, ...others]);
};

/**
 * Erases a customer from everything that the account has, except from license keys, fingerprints, and URLs. If this is cut
 * off, the account's gate goes on with it, and so does a repeat.
 */
export const eraseCustomer = async (caller: Ctx, email: string): Promise<Erased> => {
  // Its commits are several, and each can be repeated. What it has counted is claimed at the end.
  const { idempotency: _, ...ctx } = caller;
  const { env, db, accountId } = ctx;
  await consumeAttempts({ firstDb: firstDatabase(env) }, erasureLimits(accountId));
  const names = await collectNames(ctx, email);
  await expectErasure(ctx);
  const [entry] = await db.batch([
    auditReadIf(ctx, sql`NOT EXISTS ${licensesOf(ctx, email)}`, 'customer.erase', null),
    db
      .insert(erasures)
      .values({ accountId, kind: 'customer', subject: email, names, createdAt: Date.now() })
      // A row that has changed stays when the erasure that is under way ends.
      .onConflictDoUpdate({
        target: [erasures.accountId, erasures.kind, erasures.subject],
        set: { untilMs: sql`until_ms + 1`, names },
      }),
  ]);
  const erased = await finishErasure(ctx, { kind: 'customer', subject: email });
  // Only the history had this customer, so the entry above counted as a repeat of one from the same hour.
  if (erased.licenses > 0 && entry.meta.changes === 0) await audit(ctx, 'customer.erase', null);
  await keepCounts(caller, [email, ...names], erased);
  return erased;
};
