const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Letters and digits, each worth 5.95 random bits. */
export const randomBase62 = (length: number): string => {
  let text = '';
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // 248 = 4 × 62: bytes above it would favour the first letters.
      if (byte < 248 && text.length < length) text += BASE62[byte % 62];
    }
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
