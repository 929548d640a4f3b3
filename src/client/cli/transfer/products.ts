import type { Fields } from '../../../shared/rules/import-lines.ts';
import { findProducts, openProductCount } from '../../../shared/rules/import/products.ts';
import type { RowOutcome } from '../../../shared/rules/import/reading.ts';
import type { SourceRow } from '../../../shared/rules/import/rows.ts';
import { didYouMean, type NamedProduct } from '../../../shared/rules/nearest-products.ts';
import { CliError } from '../failure.ts';
import type { Output } from '../output.ts';

const MAX_WARNED = 20;

/** Reads the pairs of an option such as --map-product. */
export const readPairs = (option: string, pairs: string[] = []): Map<string, string> =>
  new Map(
    pairs.map((pair) => {
      const at = pair.lastIndexOf('=');
      if (at < 1 || at === pair.length - 1)
        throw new CliError(
          `--${option} must be NAME=${option === 'map' ? 'FIELD' : 'CODE'}, and not ${pair}.`,
        );
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );

interface Lines {
  rows: AsyncIterable<SourceRow>;
  outcomeOf: (row: SourceRow) => RowOutcome;
  /** Whether another service has written the file, whose names of products are mapped to codes. */
  isForeign: boolean;
  allowsLabels: boolean;
  listProducts: () => Promise<NamedProduct[]>;
}

/** Returns the code for what a file names a product, and warns of what names none, before anything is sent. */
export const openProductCodes = async (
  out: Output,
  { rows, outcomeOf, isForeign, allowsLabels, listProducts }: Lines,
): Promise<(line: Fields) => Fields> => {
  const count = openProductCount();
  for await (const row of rows) {
    const outcome = outcomeOf(row);
    if ('line' in outcome) count.add(outcome.line);
  }
  const named = count.result();
  const found = named.length === 0 ? [] : findProducts(named, await listProducts(), isForeign);
  const codes = new Map<string, string>();
  for (const { product, code } of found) {
    if (code === null || code === product) continue;
    codes.set(product, code);
    out.note(`The product ${product} is imported as ${code}.`);
  }
  const unknown = allowsLabels ? [] : found.filter(({ code }) => code === null);
  for (const { product, lines, nearest } of unknown.slice(0, MAX_WARNED))
    out.warn(
      `${lines === 1 ? '1 line names' : `${lines} lines name`} the product ${product}, which doesn’t exist.${didYouMean(nearest)}`,
    );
  if (unknown.length > 0)
    out.warn(
      'These lines will fail. Give their products a code with --map-product=NAME=CODE, or pass --allow-unknown-product.',
    );
  return (line) => {
    const code = codes.get(String(line['product']));
    return code === undefined ? line : { ...line, product: code };
  };
};
