const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Filled in bulk, because a call to `getRandomValues` costs more than the bytes of an id. */
const pool = new Uint8Array(1_024);
let remaining = 0;

const randomByte = (): number => {
  if (remaining === 0) remaining = crypto.getRandomValues(pool).length;
  remaining--;
  const byte = pool[remaining] ?? 0;
  // The byte may become part of a secret, so no copy of it stays in the pool.
  pool[remaining] = 0;
  return byte;
};

export const random16Bits = (): number => randomByte() * 256 + randomByte();

/** Returns random letters and digits, each with 5.95 bits of entropy. */
export const randomBase62 = (length: number): string => {
  let text = '';
  while (text.length < length) {
    const byte = randomByte();
    // 248 is the largest multiple of 62 in a byte. Taking larger bytes too would favor the first characters.
    if (byte < 248) text += BASE62[byte % 62];
  }
  return text;
};

/** Encodes each byte as one letter or digit. This loses bits, so the result can be compared but not decoded. */
export const toBase62 = (bytes: Uint8Array): string => {
  let text = '';
  for (const byte of bytes) text += BASE62[byte % 62];
  return text;
};

/** Encodes a number in `width` digits that sort in the order of the numbers. */
export const sortableBase62 = (value: number, width: number): string => {
  let text = '';
  for (let rest = value; text.length < width; rest = Math.floor(rest / 62)) {
    text = BASE62[rest % 62] + text;
  }
  return text;
};

export const fromSortableBase62 = (text: string): number => {
  let value = 0;
  for (const digit of text) value = value * 62 + BASE62.indexOf(digit);
  return value;
};
