// Base64url, hashes, and JSON, with what every platform has.

const encoder = new TextEncoder();

export const toBytes = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text);

const toBase64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** Returns null unless the text is the one encoding of its bytes, so that no other text stands for the same bytes. */
export const fromBase64url = (text: string): Uint8Array<ArrayBuffer> | null => {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    return toBase64url(bytes) === text ? bytes : null;
  } catch {
    return null;
  }
};

/** The first bytes of a text's SHA-256 hash, in base64url. */
export const sha256 = async (text: string, length = 32): Promise<string> =>
  toBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', toBytes(text))).subarray(0, length));

/** The HMAC of a text, in base64url. */
export const sign = async (secret: string, text: string): Promise<string> => {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', toBytes(secret), algorithm, false, ['sign']);
  return toBase64url(new Uint8Array(await crypto.subtle.sign('HMAC', key, toBytes(text))));
};

export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns null unless the text is a JSON object. */
export const parseObject = (text: string | null): JsonObject | null => {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
};

export const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
