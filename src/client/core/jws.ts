import { fromBase64url, type JsonObject, parseObject, toBytes } from './bytes.ts';
import type { PublicKey } from './types.ts';

// JSON Web Signatures in compact form. Only Ed25519 is known, so a token can't choose another algorithm, and keys come
// from the application or its chain, so `jwk`, `jku`, and `x5u` in a header mean nothing.

export type JwsReason = 'malformed' | 'typ' | 'alg' | 'kid' | 'signature';

const decode = (part: string) => {
  const bytes = fromBase64url(part);
  return bytes && parseObject(new TextDecoder().decode(bytes));
};

/** Rejects where Ed25519 is missing, and for a broken key. */
export const importKey = ({ x }: PublicKey) =>
  crypto.subtle.importKey('raw', fromBase64url(x) ?? toBytes(''), 'Ed25519', false, ['verify']);

const verify = async (key: PublicKey, signature: Uint8Array<ArrayBuffer>, content: string) =>
  crypto.subtle.verify('Ed25519', await importKey(key), signature, toBytes(content));

export type JwsResult = JsonObject | JwsReason;

/** Returns the payload, or why it isn't signed by a key that `find` returns. */
export const openJws = async (
  text: string,
  typ: string,
  find: (kid: unknown) => PublicKey | undefined,
): Promise<JwsResult> => {
  const parts = text.split('.');
  const [head = '', body = '', tail = ''] = parts;
  const header = decode(head);
  const payload = decode(body);
  const signature = fromBase64url(tail);
  if (!header || !payload || !signature || parts.length !== 3) return 'malformed';
  if (header['typ'] !== typ) return 'typ';
  if (header['alg'] !== 'EdDSA' || 'crit' in header) return 'alg';
  const key = find(header['kid']);
  if (!key) return 'kid';
  const isSigned = await verify(key, signature, `${head}.${body}`).catch(() => false);
  return isSigned ? payload : 'signature';
};
