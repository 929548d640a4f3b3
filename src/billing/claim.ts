import { and, desc, eq, gt, inArray, isNotNull, isNull, lt, not, notExists, or, sql } from 'drizzle-orm';
import { auditIf } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { violatesNotNull } from '../db/errors.ts';
import { claimStatements } from '../db/idempotency.ts';
import { isPending, isUnpaid, type PaymentRow, payments } from '../db/schema.ts';
import { selectRow } from '../db/select-row.ts';
import { AppError } from '../shared/app-error.ts';
import { HOUR_MS } from '../shared/rules/dates.ts';
import { CHECKOUT_PACE } from '../shared/rules/paces.ts';
import { firstIdAt } from '../shared/text/ids.ts';
import { PAYABLE_MS, replacePending } from './expire.ts';

const { checkouts: MAX_CHECKOUTS, windowMs: CHECKOUTS_MS } = CHECKOUT_PACE;
/** Providers close a checkout after a day, and its customer needs some time. */
const REUSABLE_MS = 23 * HOUR_MS;
/** The most checkouts without a payment that an account keeps from earlier days. */
const MAX_UNPAID = 50;
/** Limits the work of one request, which adds one row. */
const MAX_PRUNED = 100;

/** Whether a pending payment is for the same as the wanted one, and its checkout can still be opened. */
const isReusable = ({ plan, provider, amount, currency, createdAt, ...wanted }: PaymentRow) => {
  // The default pages to return to have the payment's own id.
  const hasUrl = (column: 'successUrl' | 'cancelUrl') =>
    sql`replace(${payments[column]}, ${payments.id}, '') IS ${wanted[column]?.replace(wanted.id, '') ?? null}`;
  return sql`${and(
    eq(payments.plan, plan),
    eq(payments.provider, provider),
    eq(payments.amount, amount),
    eq(payments.currency, currency),
    gt(payments.createdAt, createdAt - REUSABLE_MS),
    sql`${payments.subscriptionId} IS ${wanted.subscriptionId}`,
    or(isNull(payments.checkoutRef), isNotNull(payments.checkoutUrl)),
    hasUrl('successUrl'),
    hasUrl('cancelUrl'),
  )}`;
};

const ofAccount = ({ accountId }: Ctx) => eq(payments.accountId, accountId);

/** The account's id while it may start another checkout, and null after that, which the column refuses. */
const accountIfAllowed = ({ accountId }: Ctx, nowMs: number) => sql<string>`iif((
    SELECT count(*) FROM payments
    WHERE account_id = ${accountId} AND id >= ${firstIdAt('pay', nowMs - CHECKOUTS_MS)}
      AND created_at > ${nowMs - CHECKOUTS_MS}
  ) < ${MAX_CHECKOUTS}, ${accountId}, NULL)`;

/** Statement that deletes all but the newest of the checkouts that nobody can pay anymore. One that is being ended stays. */
const pruneUnpaid = (ctx: Ctx, nowMs: number) => {
  const old = ctx.db
    .select({ id: payments.id })
    .from(payments)
    .where(
      and(
        ofAccount(ctx),
        lt(payments.id, firstIdAt('pay', nowMs - PAYABLE_MS)),
        isUnpaid,
        isNull(payments.refundDueAt),
      ),
    )
    .orderBy(desc(payments.id))
    .limit(MAX_PRUNED)
    .offset(MAX_UNPAID);
  return ctx.db.delete(payments).where(inArray(payments.id, old));
};

const pendingId = ({ accountId }: Ctx) =>
  sql<string>`(SELECT id FROM payments WHERE account_id = ${accountId} AND status = 'pending')`;

/** When the oldest of the last checkouts no longer counts. */
const tooMany = async (ctx: Ctx, nowMs: number) => {
  const [oldest] = await ctx.db
    .select({ createdAt: payments.createdAt })
    .from(payments)
    .where(ofAccount(ctx))
    .orderBy(desc(payments.id))
    .limit(1)
    .offset(MAX_CHECKOUTS - 1);
  const waitMs = oldest ? oldest.createdAt + CHECKOUTS_MS - nowMs : 0;
  return new AppError('rate_limit_exceeded', {
    message: `An account starts at most ${MAX_CHECKOUTS} checkouts an hour.`,
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
  });
};

/**
 * Inserts the wanted payment, unless an open one is for the same. Returns the pending one, and those of other plans that it
 * has replaced. Of parallel calls for the same, all get the same payment.
 */
export const claimPayment = async (ctx: Ctx, wanted: PaymentRow) => {
  const { db } = ctx;
  const nowMs = wanted.createdAt;
  const pending = db
    .select()
    .from(payments)
    .where(and(ofAccount(ctx), isPending));
  const row = selectRow(payments, { ...wanted, accountId: accountIfAllowed(ctx, nowMs) });
  const entry = auditIf(ctx, notExists(pending), 'checkout.start', wanted.id, { plan: wanted.plan });
  try {
    const [replaced, , , , [payment]] = await db.batch([
      replacePending(ctx, nowMs, not(isReusable(wanted))),
      entry,
      db.insert(payments).select(sql`${row} WHERE ${notExists(pending)}`),
      pruneUnpaid(ctx, nowMs),
      pending,
      // A repeat with the same Idempotency-Key gets the payment that is pending now, also if this call has not made it.
      ...(ctx.idempotency ? claimStatements(ctx, ctx.idempotency, pendingId(ctx)) : []),
    ]);
    if (!payment) throw new AppError('unavailable');
    return { payment, replaced };
  } catch (error) {
    throw violatesNotNull(error, 'payments.account_id') ? await tooMany(ctx, nowMs) : error;
  }
};
