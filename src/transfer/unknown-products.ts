import { listNames } from '../products/named.ts';
import { nearestCodes, notAProduct } from '../shared/rules/nearest-products.ts';
import type { BatchLine, Import } from './import-state.ts';
import { type LineOutcome, type PlannedProduct, UNKNOWN_PRODUCT } from './plan.ts';

/** The products that aren't which get suggestions. Each is compared with all of the account's products. */
const MAX_SUGGESTED = 20;

/**
 * Tells the lines whose product isn't one which products are like it: those of the account, read once for an import, and
 * those of the lines so far.
 */
export const explainUnknown = async (
  current: Import,
  lines: BatchLine[],
  outcomes: (LineOutcome | null)[],
  planned: Map<string, PlannedProduct>,
): Promise<void> => {
  const { notProducts } = current;
  current.products ??= await listNames(current.ctx);
  const known = new Map(current.products.map((product) => [product.code, product]));
  for (const { after } of [...current.assumed.products.values(), ...planned.values()])
    known.set(after.code, after);
  current.products = [...known.values()];
  const messageFor = (product: string) => {
    const suggested =
      notProducts.get(product) ??
      notAProduct(notProducts.size < MAX_SUGGESTED ? nearestCodes(product, known.values()) : []);
    if (notProducts.size < MAX_SUGGESTED) notProducts.set(product, suggested);
    return suggested;
  };
  for (const [i, line] of lines.entries()) {
    if (outcomes[i] !== UNKNOWN_PRODUCT || line.type !== 'license') continue;
    const message = messageFor(line.value.product ?? '');
    const details = [{ path: 'product', message }];
    outcomes[i] = { error: { code: 'invalid_request', message: 'Invalid Request', details } };
  }
};
