import {
  codeOf,
  didYouMean,
  type NamedProduct,
  nearestCodes,
} from '../../../shared/rules/nearest-products.ts';
import { CliError } from '../failure.ts';
import type { Output } from '../output.ts';
import type { Preset } from './presets.ts';
import { readRecords } from './records.ts';

// What a file names a product may be another service's name or number for it.

const MAX_WARNED = 20;

/** Reads the pairs of --map-product. */
export const readProductMap = (pairs: string[] = []): Map<string, string> =>
  new Map(
    pairs.map((pair) => {
      const at = pair.lastIndexOf('=');
      if (at < 1 || at === pair.length - 1)
        throw new CliError(`--map-product must be NAME=CODE, and not ${pair}.`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );

/** How many lines of the file name each product. Lines of an export say what a license was, and create products. */
const countProducts = async (file: string, isForeign: boolean, toLine: Preset) => {
  const counts = new Map<string, number>();
  const created = new Set<unknown>();
  for await (const { fields } of readRecords(file, isForeign)) {
    const line = fields && toLine(fields);
    if (line?.['type'] === 'product') created.add(line['code']);
    const product = line?.['product'];
    const isOfExport = line?.['type'] === 'license' && line['id'] !== undefined;
    if (typeof product === 'string' && product !== '' && !isOfExport)
      counts.set(product, (counts.get(product) ?? 0) + 1);
  }
  return [...counts].filter(([product]) => !created.has(product));
};

interface Source {
  file: string;
  /** Whether another service has written the file, whose names of products are mapped to codes. */
  isForeign: boolean;
  toLine: Preset;
  allowsLabels: boolean;
  listProducts: () => Promise<NamedProduct[]>;
}

/** Returns the code for what a file names a product, and warns of what names none, before anything is sent. */
export const openProductCodes = async (
  out: Output,
  { file, isForeign, toLine, allowsLabels, listProducts }: Source,
): Promise<(product: string) => string> => {
  const named = await countProducts(file, isForeign, toLine);
  const products = named.length === 0 ? [] : await listProducts();
  const codes = new Map<string, string>();
  const unknown: [product: string, lines: number][] = [];
  for (const [product, lines] of products.length === 0 ? [] : named) {
    const code = isForeign
      ? codeOf(product, products)
      : products.find((known) => known.code === product)?.code;
    if (code == null) unknown.push([product, lines]);
    else if (code !== product) {
      codes.set(product, code);
      out.note(`The product ${product} is imported as ${code}.`);
    }
  }
  for (const [product, lines] of allowsLabels ? [] : unknown.slice(0, MAX_WARNED))
    out.warn(
      `${lines === 1 ? '1 line names' : `${lines} lines name`} the product ${product}, which doesn’t exist.${didYouMean(nearestCodes(product, products))}`,
    );
  if (!allowsLabels && unknown.length > 0)
    out.warn(
      'These lines will fail. Give their products a code with --map-product=NAME=CODE, or pass --allow-unknown-product.',
    );
  return (product) => codes.get(product) ?? product;
};
