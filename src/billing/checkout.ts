import { and, eq } from 'drizzle-orm';
import { accountDatabases, databaseOf, placeOf } from '../db/client.ts';
import { type PaymentRow, payments } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import { idPattern } from '../shared/text/ids.ts';
import { confirmChange } from './change-plan.ts';
import { receiveNotification } from './facts/receive.ts';
import type { Provider } from './provider/provider.ts';
import { sandboxNotification } from './provider/sandbox.ts';
import { checkReturning } from './scheduled/check.ts';

const PAYMENT_ID = idPattern('pay');

/**
 * Finds a payment by its id. The id is the only credential, as on any provider's checkout page. It doesn't tell whose
 * payment it is, so every database is asked.
 */
export const findCheckout = async (env: Env, paymentId: string): Promise<PaymentRow> => {
  if (!PAYMENT_ID.test(paymentId)) throw new AppError('not_found');
  const found = await Promise.all(
    accountDatabases(env).map(async ({ binding, db }) => {
      const [payment] = await db.select().from(payments).where(eq(payments.id, paymentId));
      // While an account moves, its rows are in two databases.
      return payment && (await placeOf(env, payment.accountId)).binding === binding ? [payment] : [];
    }),
  );
  const [payment] = found.flat();
  if (!payment) throw new AppError('not_found');
  return payment;
};

const ctxOf = (env: Env, { accountId }: PaymentRow) => ({ env, db: databaseOf(env, accountId) });

/** Finds the payment of a customer who has come back from checkout. */
export const findReturning = async (env: Env, payment: PaymentRow, origin: string): Promise<PaymentRow> =>
  (await checkReturning(ctxOf(env, payment), payment, origin)) ? findCheckout(env, payment.id) : payment;

const decline = async (env: Env, payment: PaymentRow) => {
  const isPending = and(eq(payments.id, payment.id), eq(payments.status, 'pending'));
  await ctxOf(env, payment).db.update(payments).set({ status: 'declined' }).where(isPending);
};

/** Changes the subscription if its owner has confirmed that. Returns the URL to redirect to. */
export const completeChange = async (
  env: Env,
  provider: Provider,
  payment: PaymentRow,
  outcome: 'paid' | 'declined',
): Promise<string> => {
  if (outcome === 'paid') return confirmChange(ctxOf(env, payment), provider, payment);
  await decline(env, payment);
  return payment.cancelUrl ?? '/';
};

/** Pays or declines through a signed notification, as a real provider does. Returns the URL to redirect to. */
export const completeCheckout = async (
  env: Env,
  provider: Provider,
  payment: PaymentRow,
  outcome: 'paid' | 'declined',
): Promise<string> => {
  if (outcome === 'declined') await decline(env, payment);
  const { body, headers } = sandboxNotification(env, payment, outcome);
  await receiveNotification(env, provider, body, headers);
  return (outcome === 'paid' ? payment.successUrl : payment.cancelUrl) ?? '/';
};
