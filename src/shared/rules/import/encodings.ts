// Tells how the bytes of a file are text. Excel writes UTF-8 only if it is asked to.

/** What can be chosen for a file that isn't UTF-8. */
export const ENCODINGS = {
  'windows-1252': 'Western European (Windows)',
  'windows-1250': 'Central European (Windows)',
  'windows-1251': 'Cyrillic (Windows)',
  macintosh: 'Western European (Mac)',
} as const;
export type Encoding = keyof typeof ENCODINGS | 'utf-8' | 'utf-16le' | 'utf-16be';

/** Returns the encoding that the first bytes of a file mark, or UTF-8. */
export const encodingOf = ([first, second]: Uint8Array): Encoding => {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
};

/** Decodes the chunks of a file, without a byte order mark. Throws if they aren't in the encoding. */
export async function* decode(chunks: AsyncIterable<Uint8Array>, encoding: Encoding): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

/** Whether a file that begins so is text, and not a workbook or a picture. */
export const isText = (head: string): boolean => !head.includes('\0') && !head.startsWith('PK\u0003\u0004');

/** Returns the first characters of a text, and whether they are all of it. */
export const headOf = async (chunks: AsyncIterable<string>, maxLength: number) => {
  let head = '';
  for await (const chunk of chunks) {
    head += chunk;
    if (head.length > maxLength) return { head: head.slice(0, maxLength), isWhole: false };
  }
  return { head, isWhole: true };
};
