import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Ctx, DatabaseCtx } from '../db/ctx.ts';
import { jsonChunks } from '../db/json-rows.ts';
import { type ErasureRow, erasures, licenses } from '../db/schema.ts';
import { commitUnannounced } from '../gate/feed/write.ts';
import { AppError } from '../shared/app-error.ts';
import { gateOf, outboxOf } from '../shared/objects/address.ts';
import { SYSTEM } from '../shared/rules/audit.ts';
import { logError } from '../shared/text/log.ts';
import { eraseCustomerRows } from './customer-rows.ts';
import type { SpendQueries } from './find-licenses.ts';

// Erases what the table `erasures` lists: first from D1, then along the way of the events, from the gate and its branches
// before the outbox. Each step can be repeated. A row is deleted once everything that it lists is erased.

/** The most rows of each kind that are taken at once. */
const MAX_ROWS = 500;
/** The most accounts in a run of the scheduled work. The next run continues. */
const MAX_ACCOUNTS = 20;
/** The accounts from which a run chooses. */
const MAX_DUE = 10_000;

/** How many D1 queries a call, or a run of the scheduled work, makes to erase customers. D1 allows 1,000 per request. */
const MAX_QUERIES = 600;

const limitQueries = (limit: number) => {
  let left = limit;
  const spend: SpendQueries = (queries) => {
    if (left < queries)
      throw new AppError('unavailable', {
        message: 'The customer has too many licenses for one call. Repeat it to go on.',
      });
    left -= queries;
  };
  return { spend, left: () => left };
};

/** How many licenses, activations, and events the erased person was in. */
export interface Erased {
  licenses: number;
  activations: number;
  events: number;
}

type Wanted = Pick<ErasureRow, 'kind' | 'subject'>;

const list = async ({ db, accountId }: Ctx, kind: ErasureRow['kind'], only: Wanted | null = null) => {
  if (only && only.kind !== kind) return [];
  const isOne = only ? eq(erasures.subject, only.subject) : undefined;
  return db
    .select()
    .from(erasures)
    .where(and(eq(erasures.accountId, accountId), eq(erasures.kind, kind), isOne))
    .limit(MAX_ROWS);
};

/** Returns the licenses whose machines have names of erased customers, with their present keys. */
const listMachines = async ({ db, accountId }: Ctx) =>
  db
    .select({ erasure: erasures, licenseKey: licenses.licenseKey })
    .from(erasures)
    .leftJoin(licenses, and(eq(licenses.accountId, erasures.accountId), eq(licenses.id, erasures.subject)))
    .where(and(eq(erasures.accountId, accountId), eq(erasures.kind, 'machines')))
    .limit(MAX_ROWS);

/** A row that was changed in the meantime stays. */
const remove = async ({ db, accountId }: Ctx, rows: ErasureRow[]): Promise<void> => {
  for (const json of jsonChunks(rows)) {
    const isRow = sql`(kind, subject, until_ms) IN
      (SELECT value ->> 'kind', value ->> 'subject', value ->> 'untilMs' FROM json_each(${json}))`;
    await db.delete(erasures).where(and(eq(erasures.accountId, accountId), isRow));
  }
};

const eraseFromObjects = async (ctx: Ctx): Promise<number> => {
  const { env, accountId } = ctx;
  // The last row that a gate has applied stays in the feed, and this one names nobody.
  await commitUnannounced(ctx, [], [{ kind: 'account', ref: accountId }]);
  let activations = 0;
  for (let isLast = false; !isLast;) {
    const machines = await listMachines(ctx);
    const traced = machines.map(({ erasure: { subject, untilMs }, licenseKey }) => ({
      licenseId: subject,
      licenseKey,
      untilMs,
    }));
    activations += await gateOf(env, accountId).eraseTraces(traced);
    await remove(
      ctx,
      machines.map(({ erasure }) => erasure),
    );
    isLast = machines.length < MAX_ROWS;
  }
  return activations;
};

const eraseEvents = async ({ env, accountId }: Ctx, licenseIds: string[], emails: string[]) => {
  let events = 0;
  if (licenseIds.length + emails.length === 0) return events;
  for (let after: string | null = ''; after !== null;) {
    const page = await outboxOf(env, accountId).eraseEvents({ licenseIds, emails }, after);
    events += page.events;
    after = page.next;
  }
  return events;
};

/** Erases customers from D1, one after the other, for as long as there are queries left. */
const eraseCustomers = async (ctx: Ctx, customers: ErasureRow[], spend: SpendQueries) => {
  const done: ErasureRow[] = [];
  let licenses = 0;
  try {
    for (const customer of customers) {
      licenses += await eraseCustomerRows(ctx, customer.subject, spend, customer.position);
      done.push(customer);
    }
    return { done, licenses, failure: null };
  } catch (failure) {
    return { done, licenses, failure };
  }
};

/**
 * Finishes the erasure `only`, or all that the account has begun. If one of them fails, those before it are finished all the
 * way, and then the failure is thrown.
 */
export const finishErasures = async (
  ctx: Ctx,
  only: Wanted | null,
  spend = limitQueries(MAX_QUERIES).spend,
): Promise<Erased> => {
  const customers = await list(ctx, 'customer', only);
  const deleted = await list(ctx, 'license', only);
  if (customers.length + deleted.length === 0 && (await list(ctx, 'machines')).length === 0)
    return { licenses: 0, activations: 0, events: 0 };
  const { done, licenses, failure } = await eraseCustomers(ctx, customers, spend);
  const subjectsOf = (rows: ErasureRow[]) => rows.map(({ subject }) => subject);
  const activations = await eraseFromObjects(ctx);
  const events = await eraseEvents(ctx, subjectsOf(deleted), subjectsOf(done));
  await remove(ctx, [...done, ...deleted]);
  if (failure) throw failure;
  return { licenses, activations, events };
};

/** Chooses some accounts, each found with one lookup, however many erasures it has begun. */
const chooseDue = async ({ db }: DatabaseCtx): Promise<string[]> => {
  const next = (after: SQL) => sql`(SELECT min(account_id) FROM erasures WHERE account_id > ${after})`;
  const due = await db.all<{ id: string }>(sql`
    WITH RECURSIVE due(id, number) AS (
      SELECT ${next(sql`''`)}, 1
      UNION ALL SELECT ${next(sql`id`)}, number + 1 FROM due WHERE id IS NOT NULL AND number < ${MAX_DUE}
    )
    SELECT id FROM due WHERE id IS NOT NULL`);
  // At random, so that accounts that need many runs don't keep others from theirs.
  return due
    .map(({ id }) => id)
    .toSorted(() => Math.random() - 0.5)
    .slice(0, MAX_ACCOUNTS);
};

/** Finishes erasures that were cut off. Each account has its share of the queries, and what the accounts before it have left. */
export const finishDueErasures = async (ctx: DatabaseCtx): Promise<void> => {
  const due = await chooseDue(ctx);
  let left = MAX_QUERIES;
  for (const [i, accountId] of due.entries()) {
    const share = limitQueries(Math.floor(left / (due.length - i)));
    const before = share.left();
    try {
      await finishErasures({ ...ctx, accountId, key: null, actor: SYSTEM, ip: null }, null, share.spend);
    } catch (error) {
      logError('erasure_not_finished', error, { account_id: accountId });
    }
    left -= before - share.left();
  }
};
