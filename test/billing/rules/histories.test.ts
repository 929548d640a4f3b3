import fc from 'fast-check';
import { expect, test } from 'vitest';
import { standingOf } from '../../../src/billing/rules/standing.ts';
import { effectivePlan } from '../../../src/shared/rules/plans.ts';
import { ACTIONS, play } from './model-history.ts';
import { type ModelInvoice, recentOf } from './model-stripe.ts';

// The service's own decisions are applied to random histories. Stripe and the database are small models.

const keptOf = ({ status, amount, refunded, dispute }: ModelInvoice) =>
  status === 'paid' && dispute !== 'lost' ? amount - refunded : 0;

const expectOneSubscription = ({ stripe, books }: ReturnType<typeof play>) => {
  const running = stripe.subscriptions.filter(({ status }) => status !== 'canceled');
  expect(running.length).toBeLessThanOrEqual(1);
  expect(books.live()?.providerRef).toBe(running[0]?.id);
};

/** Whoever has paid has the plan, and nobody else. */
const expectPlan = ({ stripe, books, nowMs }: ReturnType<typeof play>) => {
  const row = books.live();
  const model = stripe.subscriptions.find(({ id }) => id === row?.providerRef);
  if (!row || !model) return;
  const { planUntil } = standingOf(row);
  const plan = effectivePlan(
    { plan: row.plan, planUntil, grantedPlan: null, grantedUntil: null, own: null },
    nowMs,
  );
  const current = model.invoices.filter(({ endMs }) => endMs >= model.endMs);
  // What became of an older invoice of the period is not found if nobody tells.
  if (current.some((invoice) => invoice.isUntold && !recentOf(model).includes(invoice))) return;
  const isDisputed = current.some(({ dispute }) => dispute === 'open');
  if (model.status === 'active' && !isDisputed) {
    expect([plan, row.cancelledAt !== null]).toEqual([model.plan, model.endsWithPeriod]);
    expect(current.reduce((sum, invoice) => sum + keptOf(invoice), 0)).toBeGreaterThan(0);
  }
  if (isDisputed) expect(plan).toBe('free');
  if (model.status === 'past_due') expect(row.failedAt).not.toBeNull();
};

/** Each charge is a payment, and the events tell of what has arrived and what was given back. */
const expectCharges = ({ stripe, books }: ReturnType<typeof play>) => {
  const charged = stripe.subscriptions
    .flatMap(({ invoices }) => invoices)
    .filter(({ status, amount }) => status === 'paid' && amount > 0);
  const settled = books.payments.filter(
    ({ status, amount }) => amount > 0 && /paid|refunded|disputed/.test(status),
  );
  const firstOf = (ref: string | null) =>
    stripe.subscriptions.find(({ paymentId }) => ref === `cs_${paymentId}`)?.invoices[0]?.id ?? ref;
  const toLine = (ref: string | null, amount: number, refunded: number) => `${ref} ${amount} ${refunded}`;
  const untold = new Set(charged.filter(({ isUntold }) => isUntold).map(({ id }) => id));
  const isTold = (line: string) => !untold.has(line.split(' ')[0] ?? '');
  const ofBooks = settled.map((row) => toLine(firstOf(row.checkoutRef), row.amount, row.refundedAmount));
  const ofStripe = charged.map((invoice) => toLine(invoice.id, invoice.amount, invoice.refunded));
  expect(ofBooks.filter(isTold).toSorted()).toEqual(ofStripe.filter(isTold).toSorted());
  for (const row of settled) {
    const about = books.events.filter(({ fields }) => fields['payment_id'] === row.id);
    const sum = (name: string) =>
      about.reduce((total, event) => total + (event.name === name ? Number(event.fields['amount']) : 0), 0);
    expect(sum('payment.refunded')).toBe(row.refundedAmount);
    // What bought nothing is only told as given back.
    if (sum('payment.success') !== row.amount)
      expect([sum('payment.success'), row.refundedAmount]).toEqual([0, row.amount]);
  }
};

/** Nobody is charged twice for a period. A subscription that ended early leaves the rest of its period free. */
const expectOnce = ({ stripe }: ReturnType<typeof play>) => {
  const paid = stripe.subscriptions
    .filter(({ isEndedThere }) => !isEndedThere)
    .flatMap(({ id, endedMs, invoices }) =>
      invoices
        .filter((invoice) => invoice.reason !== 'subscription_update' && invoice.dispute === null)
        .filter((invoice) => keptOf(invoice) > 0)
        .map(({ startMs, endMs }) => ({ id, startMs, endMs: Math.min(endMs, endedMs ?? endMs) })),
    );
  for (const [i, one] of paid.entries())
    for (const other of paid.slice(i + 1)) {
      const isOverlapping = one.startMs < other.endMs && other.startMs < one.endMs;
      // An assertion of each pair would take most of the time.
      if (isOverlapping) expect.fail(`Paid twice: ${JSON.stringify([one, other])}`);
    }
};

const stepsOf = (actions: readonly (typeof ACTIONS)[number][]) =>
  fc.array(fc.record({ action: fc.constantFrom(...actions), pick: fc.integer({ min: 0, max: 59 }) }), {
    minLength: 5,
    maxLength: 40,
    size: 'max',
  });

const expectTruth = (end: ReturnType<typeof play>) => {
  expectOneSubscription(end);
  expectPlan(end);
  expectCharges(end);
  expectOnce(end);
};

/**
 * The histories take two seconds of a processor's time, but a busy machine may give it to them in two minutes. So each part has
 * the time limit of a test, whose failure names a seed that plays again in a moment.
 */
const PARTS = Array.from({ length: 20 }, (_, part) => part);
const RUNS = 500;

test.for(PARTS)(
  'in 10,000 random histories plan, charges and events agree, and nobody pays for a period twice (part %i of 20)',
  (part) => {
    const property = fc.property(stepsOf(ACTIONS), (history) => expectTruth(play(history)));
    fc.assert(property, { seed: 20_261_124 + part, numRuns: RUNS });
  },
);

test.for(PARTS.slice(0, 4))(
  'if no notification is lost, all that is true without asking again (part %i of 4)',
  (part) => {
    const heard = stepsOf(ACTIONS.filter((action) => action !== 'lose'));
    const property = fc.property(heard, (history) => expectTruth(play(history, { asksAgain: false })));
    fc.assert(property, { seed: 20_261_125 + part, numRuns: RUNS });
  },
);
