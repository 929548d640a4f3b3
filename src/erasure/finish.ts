import { and, eq, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { jsonChunks } from '../db/json-rows.ts';
import { type ErasureRow, erasures, licenses } from '../db/schema.ts';
import { commitUnannounced } from '../gate/feed/write.ts';
import { AppError } from '../shared/app-error.ts';
import { gateOf, outboxOf } from '../shared/objects/address.ts';
import { logError } from '../shared/text/log.ts';
import { openBudget } from './budget.ts';
import { eraseCustomerRows } from './customer-rows.ts';
import type { SpendQueries } from './find-licenses.ts';

// Erases what the table `erasures` lists: first from D1, then along the way of the events, from the gate and its branches
// before the outbox. Each step can be repeated. A row is deleted once everything that it lists is erased.

/** The most rows of each kind that are taken at once. */
const MAX_ROWS = 500;

/** How many D1 queries, and for how long, a call erases customers. D1 allows 1,000 per request. */
const CALL_BUDGET = [600, 60_000] as const;
/** The same for a run of the gate's alarm. Meanwhile, the gate answers calls, and other jobs of the alarm wait. */
const ALARM_BUDGET = [300, 2_000] as const;
/** Queries that a run may make however long they take: more than the steps that every run repeats. */
const MIN_QUERIES = 60;

/** The rest waits for the gate's next alarm. */
class OutOfBudget extends AppError {
  constructor() {
    super('unavailable', {
      message: 'The customer has too many licenses for one call. The erasure goes on by itself.',
    });
  }
}

const openSpend = (maxQueries: number, maxMs: number): SpendQueries => {
  const budget = openBudget(maxQueries, maxMs, MIN_QUERIES);
  return (queries) => {
    if (!budget.spend(queries)) throw new OutOfBudget();
  };
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

const eraseFromObjects = async (ctx: Ctx, emails: string[]): Promise<number> => {
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
    activations += await gateOf(env, accountId).eraseTraces(traced, emails);
    await remove(
      ctx,
      machines.map(({ erasure }) => erasure),
    );
    isLast = machines.length < MAX_ROWS;
  }
  return activations;
};

/** The most licenses or customers that a call looks for, because the outbox compares each with all of its events. */
const MAX_SUBJECTS = 50;

const inParts = (subjects: string[]): string[][] =>
  Array.from({ length: Math.ceil(subjects.length / MAX_SUBJECTS) }, (_, i) =>
    subjects.slice(i * MAX_SUBJECTS, (i + 1) * MAX_SUBJECTS),
  );

const eraseEvents = async ({ env, accountId }: Ctx, licenseIds: string[], emails: string[]) => {
  let events = 0;
  for (const subjects of [
    ...inParts(licenseIds).map((part) => ({ licenseIds: part, emails: [] })),
    ...inParts(emails).map((part) => ({ licenseIds: [], emails: part })),
  ])
    for (let after: string | null = ''; after !== null;) {
      const page = await outboxOf(env, accountId).eraseEvents(subjects, after);
      events += page.events;
      after = page.next;
    }
  return events;
};

/** Erases customers from D1, one after the other, for as long as there are queries left. One that fails is passed over. */
const eraseCustomers = async (ctx: Ctx, customers: ErasureRow[], spend: SpendQueries) => {
  const done: ErasureRow[] = [];
  let licenses = 0;
  let failure: unknown = null;
  for (const customer of customers) {
    try {
      licenses += await eraseCustomerRows(ctx, customer, spend);
      done.push(customer);
    } catch (error) {
      failure ??= error;
      if (error instanceof OutOfBudget) break;
    }
  }
  return { done, licenses, failure };
};

/**
 * Finishes the erasure `only`, or many that the account has begun. If one of them fails, the others are finished all the way,
 * and then the failure is thrown.
 */
export const finishErasures = async (ctx: Ctx, only: Wanted | null, spend: SpendQueries): Promise<Erased> => {
  const customers = await list(ctx, 'customer', only);
  const deleted = await list(ctx, 'license', only);
  if (customers.length + deleted.length === 0 && (await list(ctx, 'machines')).length === 0)
    return { licenses: 0, activations: 0, events: 0 };
  const { done, licenses, failure } = await eraseCustomers(ctx, customers, spend);
  const subjectsOf = (rows: ErasureRow[]) => rows.map(({ subject }) => subject);
  const activations = await eraseFromObjects(ctx, subjectsOf(done));
  const events = await eraseEvents(ctx, subjectsOf(deleted), subjectsOf(done));
  await remove(ctx, [...done, ...deleted]);
  if (failure) throw failure;
  return { licenses, activations, events };
};

/** Should the call that begins an erasure die, the gate goes on so much later. */
const FALLBACK_MS = 60_000;

/** Lets the gate go on with erasures. If it can't be told, the scheduled work finds them. */
const letGateGoOn = async ({ env, accountId }: Ctx, inMs: number): Promise<void> => {
  try {
    await gateOf(env, accountId).eraseDue(inMs);
  } catch (error) {
    logError('erasure_not_begun', error, { account_id: accountId });
  }
};

/** Call it before, or while, an erasure is committed. */
export const expectErasure = (ctx: Ctx): Promise<void> => letGateGoOn(ctx, FALLBACK_MS);

/** Finishes an erasure that was committed, within the call. If that fails, the gate goes on at once. */
export const finishErasure = async (ctx: Ctx, erasure: Wanted): Promise<Erased> => {
  try {
    return await finishErasures(ctx, erasure, openSpend(...CALL_BUDGET));
  } catch (error) {
    await letGateGoOn(ctx, 0);
    throw error;
  }
};

/**
 * Erases some of what the account has begun to erase, from the alarm of its gate. Returns whether something is left, also if
 * that was begun meanwhile.
 */
export const eraseSome = async (ctx: Ctx): Promise<boolean> => {
  const { db, accountId } = ctx;
  const [begun] = await db
    .select({ subject: erasures.subject })
    .from(erasures)
    .where(eq(erasures.accountId, accountId))
    .limit(1);
  if (!begun) return false;
  try {
    await finishErasures(ctx, null, openSpend(...ALARM_BUDGET));
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error;
  }
  return true;
};
