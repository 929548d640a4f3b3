const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Asked for many at a time: a call for each id would cost more than the bytes do. */
const pool = new Uint8Array(1_024);
let left = 0;

const randomByte = (): number => {
  if (left === 0) left = crypto.getRandomValues(pool).length;
  left--;
  const byte = pool[left] ?? 0;
  // What has become part of a secret stays nowhere else.
  pool[left] = 0;
  return byte;
};

/** Letters and digits, each worth 5.95 random bits. */
export const randomBase62 = (length: number): string => {
  let text = '';
  while (text.length < length) {
    const byte = randomByte();
    // 248 = 4 × 62: bytes above it would favour the first letters.
    if (byte < 248) text += BASE62[byte % 62];
  }
  return text;
};

/** One letter or digit a byte; enough for what is compared and never decoded. */
export const toBase62 = (bytes: Uint8Array): string => {
  let text = '';
  for (const byte of bytes) text += BASE62[byte % 62];
  return text;
};

/** A number in `width` digits that sort as the number does. */
export const sortableBase62 = (value: number, width: number): string => {
  let text = '';
  for (let rest = value; text.length < width; rest = Math.floor(rest / 62)) {
    text = BASE62[rest % 62] + text;
  }
  return text;
};
