import { isDeepStrictEqual } from 'node:util';
import { isRejected } from '../db/errors.ts';
import { pull } from '../gate/worker/commit.ts';
import { random16Bits } from '../shared/crypto/random.ts';
import { addEffects } from './effects.ts';
import type { BatchLine, Import } from './import-state.ts';
import {
  changedFields,
  type LineOutcome,
  planLicense,
  type PlannedLicense,
  type PlannedProduct,
  planProduct,
  UNKNOWN_PRODUCT,
} from './plan.ts';
import { auditDetails, type LineError, refusalOf } from './schemas.ts';
import { importSeats } from './seats.ts';
import { commitPlan, lookUp } from './store.ts';
import { explainUnknown } from './unknown-products.ts';
import { importWebhook } from './webhooks.ts';

// Imports a batch of lines with one commit. If a change by somebody else comes first, the commit is rejected as a whole,
// and the batch is planned again.

const ATTEMPTS = 8;
const MAX_WAIT_MS = 50;

/** Waits longer after each attempt, and each import for another time, so that parallel imports get out of each other's way. */
const waitAfter = (attempt: number) =>
  scheduler.wait((random16Bits() / 65_536) * MAX_WAIT_MS * 2 ** (attempt - 1));

const isOurs = (ids: Map<string, string>, licenseKey: string, id: string) => ids.get(licenseKey) === id;

/** Reads what the lines name, and decides about each license and product. */
const plan = async (current: Import, lines: BatchLine[], ids: Map<string, string>) => {
  const { ctx, options, assumed } = current;
  const nowMs = Date.now();
  const codes = new Set<string>();
  const licenseKeys = new Set<string>();
  for (const line of lines) {
    if (line.type === 'product') codes.add(line.value.code);
    if (line.type !== 'license') continue;
    licenseKeys.add(line.licenseKey);
    if (line.value.product) codes.add(line.value.product);
  }
  const found = await lookUp(ctx, licenseKeys, codes, nowMs);
  const licenses = new Map(
    found.licenses.map(({ row, ...license }): [string, PlannedLicense] => [
      row.licenseKey,
      { before: row, after: row, ...license },
    ]),
  );
  const products = new Map(
    found.products.map((row): [string, PlannedProduct] => [row.code, { before: row, after: row }]),
  );
  for (const key of licenseKeys) {
    const known = assumed.licenses.get(key);
    if (known) licenses.set(key, { ...known });
  }
  for (const code of codes) {
    const known = assumed.products.get(code);
    if (known) products.set(code, { ...known });
  }
  const hasProducts = () => found.hasProducts || assumed.products.size > 0 || products.size > 0;
  const isNew = ({ before }: { before: unknown }) => before === null;
  const facts = {
    email: found.email,
    room: found.room - assumed.licenses.values().filter(isNew).toArray().length,
    nowMs,
    termsOf: (code: string | null | undefined) => (code && products.get(code)?.after.terms) || {},
    isUnknown: (code: string) => hasProducts() && !options.allowsLabels && !products.has(code),
  };
  const productFacts = {
    room: found.productRoom - assumed.products.values().filter(isNew).toArray().length,
    nowMs,
  };
  const outcomes = lines.map((line): LineOutcome | null => {
    if (line.type === 'product') return planProduct(products, line.value, options, productFacts);
    if (line.type !== 'license') return null;
    const known = licenses.get(line.licenseKey);
    // An earlier attempt has created it, although its commit had no answer.
    if (known?.before && isOurs(ids, line.licenseKey, known.after.id)) {
      ids.delete(line.licenseKey);
      return { result: 'created', id: known.after.id };
    }
    return planLicense(licenses, line.licenseKey, line.value, options, facts);
  });
  if (outcomes.includes(UNKNOWN_PRODUCT)) await explainUnknown(current, lines, outcomes, products);
  return { licenses, products, hasProducts: found.hasProducts, outcomes, nowMs };
};

type BatchPlan = Awaited<ReturnType<typeof plan>>;

/** Whether a row has been written: it is as it was planned. */
const isWritten = (after: object, row: object | null | undefined) =>
  !!row && isDeepStrictEqual({ ...row, ...after }, row);

/** Whether everything that a commit without an answer would have changed is as it was planned. `found` was read since. */
const isMade = ({ licenses, products }: BatchPlan, found: BatchPlan): boolean =>
  licenses
    .entries()
    .filter(([, { before, after }]) => before === null || changedFields(before, after).length > 0)
    .every(([key, { after }]) => isWritten(after, found.licenses.get(key)?.before)) &&
  products
    .entries()
    .filter(([, { before, after }]) => before !== after)
    .every(([code, { after }]) => isWritten(after, found.products.get(code)?.before));

/** The outcomes if the account's limits refuse the commit: lines that would have changed something have failed. */
const refusedBy = (error: LineError, outcomes: (LineOutcome | null)[]) => {
  const isChange = (outcome: LineOutcome | null) =>
    outcome && 'result' in outcome && (outcome.result === 'created' || outcome.result === 'updated');
  return outcomes.map((outcome) => (isChange(outcome) ? { error } : outcome));
};

/** Plans and commits the batch's licenses and products. */
const change = async (current: Import, lines: BatchLine[]): Promise<(LineOutcome | null)[]> => {
  const { ctx, options, assumed } = current;
  const ids = new Map<string, string>();
  /** A commit that may have succeeded, although it had no answer. */
  let uncertain: BatchPlan | null = null;
  const done = ({ licenses, outcomes }: BatchPlan) => {
    addEffects(current.effects, [...licenses.values()]);
    return outcomes;
  };
  if (!lines.some(({ type }) => type === 'license' || type === 'product')) return lines.map(() => null);
  for (let attempt = 1; ; attempt++) {
    const planned = await plan(current, lines, ids);
    if (uncertain && isMade(uncertain, planned)) {
      current.isRecorded = true;
      return done(uncertain);
    }
    const { licenses, products, hasProducts, outcomes, nowMs } = planned;
    if (options.isDryRun) {
      for (const [key, license] of licenses) {
        if (license.before === license.after) continue;
        assumed.licenses.set(key, license);
        assumed.length += JSON.stringify(license).length;
      }
      for (const [code, product] of products)
        if (product.before !== product.after) assumed.products.set(code, product);
      return outcomes;
    }
    for (const [key, { before, after }] of licenses) if (before === null) ids.set(key, after.id);
    const entry = { id: current.entryId, details: current.isRecorded ? null : auditDetails(options) };
    try {
      const written = { licenses: [...licenses.values()], products: [...products.values()], hasProducts };
      if (await commitPlan(ctx, written, { hasEvents: options.hasEvents, entry }, nowMs))
        current.isRecorded = true;
      return done(planned);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal) return refusedBy(refusal, outcomes);
      if (attempt === ATTEMPTS) throw error;
      if (!isRejected(error)) {
        uncertain = planned;
        // The gate may not know of it.
        await pull(ctx);
      }
      await waitAfter(attempt);
    }
  }
};

/** Imports the lines of a batch, and returns an outcome for each. */
export const importBatch = async (current: Import, lines: BatchLine[]): Promise<LineOutcome[]> => {
  const outcomes = await change(current, lines);
  const seats = await importSeats(current, lines);
  const results: LineOutcome[] = [];
  for (const [i, line] of lines.entries()) {
    if (line.type === 'failed') results.push({ error: line.error });
    else if (line.type === 'webhook') results.push(await importWebhook(current, line.value));
    else results.push(outcomes[i] ?? seats.get(line) ?? { result: 'skipped' });
  }
  return results;
};
