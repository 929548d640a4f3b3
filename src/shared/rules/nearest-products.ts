// Finds the products that a text which names none was probably meant to name.

export interface NamedProduct {
  code: string;
  name: string | null;
}

const MAX_SUGGESTIONS = 3;
/** Of the pairs of characters that two texts have, the share that must be common to both. */
const MIN_LIKENESS = 0.4;

/** Letters and digits only, so that the name "Orrery Pro" is like the code "orrery-pro". */
const fold = (text: string) =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

const pairsOf = (text: string): Set<string> => {
  const marked = ` ${fold(text)} `;
  return new Set(Array.from({ length: marked.length - 1 }, (_, i) => marked.slice(i, i + 2)));
};

const likeness = (a: Set<string>, b: Set<string>): number => {
  let common = 0;
  for (const pair of a) if (b.has(pair)) common++;
  return (2 * common) / (a.size + b.size);
};

/** Returns the codes of up to three products whose code or name is like the text, the most alike first. */
export const nearestCodes = (text: string, products: Iterable<NamedProduct>): string[] => {
  const wanted = pairsOf(text);
  return [...products]
    .map(({ code, name }) => ({
      code,
      likeness: Math.max(...[code, name ?? code].map((known) => likeness(wanted, pairsOf(known)))),
    }))
    .filter((product) => product.likeness >= MIN_LIKENESS)
    .toSorted((a, b) => b.likeness - a.likeness)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ code }) => code);
};

/** Returns the code of the one product whose code or name is this text, apart from case, spaces, and signs. */
export const codeOf = (text: string, products: NamedProduct[]): string | null => {
  if (products.some(({ code }) => code === text)) return text;
  const wanted = fold(text);
  const [found, ...others] = products.filter(({ code, name }) =>
    [code, name ?? code].some((known) => wanted !== '' && fold(known) === wanted),
  );
  return found && others.length === 0 ? found.code : null;
};

/** A sentence after another one, or nothing. */
export const didYouMean = (nearest: string[]): string => {
  const quoted = nearest.map((code) => `"${code}"`);
  const last = quoted.pop();
  if (last === undefined) return '';
  return ` Did you mean ${quoted.length > 0 ? `${quoted.join(', ')} or ` : ''}${last}?`;
};

/** Continues the field's name, as each detail of an error does. */
export const notAProduct = (nearest: string[]): string =>
  `is not a product.${didYouMean(nearest) || ' Create it first, or allow mere labels with allow_unknown_product.'}`;
