import type { Fields } from '../import-lines.ts';
import { codeOf, type NamedProduct, nearestCodes } from '../nearest-products.ts';

// What a file names a product may be another service's name or number for it.

/** Counts the lines that name each product, apart from products that the file brings. */
export const openProductCount = () => {
  const counts = new Map<string, number>();
  const created = new Set<unknown>();
  return {
    add: (line: Fields) => {
      const { type, id, code, product } = line;
      if (type === 'product') created.add(code);
      // A line of an export says what its license was.
      if (typeof product !== 'string' || product === '' || (type === 'license' && id !== undefined)) return;
      counts.set(product, (counts.get(product) ?? 0) + 1);
    },
    result: (): [product: string, lines: number][] =>
      [...counts].filter(([product]) => !created.has(product)),
  };
};

export interface FoundProduct {
  /** As the file names it. */
  product: string;
  lines: number;
  /** The code of the account's product that it means, or null. */
  code: string | null;
  /** The codes that are like it, if it means none. */
  nearest: string[];
}

/** Returns which of the account's products a file names. An account without products takes any label. */
export const findProducts = (
  counts: [product: string, lines: number][],
  products: NamedProduct[],
  /** Whether another service has written the file, which names products by other texts than their codes. */
  isForeign: boolean,
): FoundProduct[] =>
  counts.map(([product, lines]) => {
    const isCode = products.length === 0 || products.some(({ code }) => code === product);
    const code = isCode ? product : isForeign ? codeOf(product, products) : null;
    return { product, lines, code, nearest: code === null ? nearestCodes(product, products) : [] };
  });
