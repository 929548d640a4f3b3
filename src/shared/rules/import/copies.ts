import { type Fields, isLicense } from '../import-lines.ts';

// Numbers equal lines without a license key. The key follows from a line and its number, so that a line that is sent again
// creates no second license.

/**
 * A failed row is kept with a number of two parts: its number among equal rows, and a hash of its values. If the values are still
 * the same, the row is imported with the first part. If it was corrected, with the whole, which no other row with these values has.
 */
const ROOM = 1_000_000;

/** FNV-1a. Spreadsheets keep numbers of up to eleven digits. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % ROOM;
};

const numberOf = (copy: number, content: string) => copy * ROOM + hashOf(content);

/** Whether a row that was corrected has a number of its own, so that no row with the same values can be meant. */
export const hasOwnNumber = (copy: unknown): boolean => Number(copy) >= ROOM;

/** Returns a field as the service compares it: it ignores the case of email addresses, and the spaces around texts. */
const compared = (name: string, value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  return name === 'customer_email' ? value.trim().toLowerCase() : value.trim();
};

const contentOf = (line: Fields): string => {
  const { copy: _, ...fields } = line;
  const named = Object.entries(fields).map(([name, value]) => [name, compared(name, value)] as const);
  return JSON.stringify(named.toSorted(([a], [b]) => (a < b ? -1 : 1)));
};

/** Whether the fields are those of a license whose key follows from them. */
export const isKeyless = (fields: Fields): boolean =>
  isLicense(fields) && (fields['license_key'] ?? '') === '';

/** The number with which a line that failed is kept, if it needs one. */
export const failedCopy = (line: Fields): unknown => {
  const { copy } = line;
  const isCounted = typeof copy === 'number' && isKeyless(line) && !hasOwnNumber(copy);
  return isCounted ? numberOf(copy, contentOf(line)) : copy;
};

/** The number of a row that can't be read, and has to be corrected. No other one has the same place in its file. */
export const unreadCopy = (place: number, text: string): number => numberOf(place, text);

/**
 * Numbers equal lines over all parts of a file. The service can only number the lines of one request. Returns the number of a
 * line, or undefined if it needs none, or has one.
 */
export const openCopies = () => {
  const copies = new Map<string, number>();
  return (fields: Fields): number | undefined => {
    if (!isKeyless(fields)) return undefined;
    const content = contentOf(fields);
    const given = fields['copy'];
    if (given !== undefined) {
      const isSame = hasOwnNumber(given) && Number(given) % ROOM === hashOf(content);
      return isSame ? Math.floor(Number(given) / ROOM) : undefined;
    }
    const copy = (copies.get(content) ?? 0) + 1;
    copies.set(content, copy);
    return copy;
  };
};
