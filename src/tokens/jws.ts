import { Buffer } from 'node:buffer';
import type { PublicJwk, SigningKey } from './keys.ts';

// JSON Web Signatures in compact form, with Ed25519.

const TOKEN_TYPE = 'latchkey+jwt';
const CHAIN_TYPE = 'latchkey+keys';

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

const sign = async ({ jwk, privateKey }: SigningKey, typ: string, payload: unknown): Promise<string> => {
  const content = `${encode({ alg: 'EdDSA', typ, kid: jwk.kid })}.${encode(payload)}`;
  const signature = await crypto.subtle.sign('Ed25519', privateKey, new TextEncoder().encode(content));
  return `${content}.${Buffer.from(signature).toString('base64url')}`;
};

export const signToken = (key: SigningKey, claims: object): Promise<string> => sign(key, TOKEN_TYPE, claims);

export interface KeySet {
  keys: PublicJwk[];
  /** For each newer key, oldest first: the key, signed by the key before it. */
  chain: string[];
}

/** The account's public keys. A client that trusts one of them trusts each newer one through the chain. */
export const keySetOf = async (accountId: string, keys: SigningKey[]): Promise<KeySet> => {
  const oldestFirst = keys.toReversed();
  const links = oldestFirst.slice(1).map((newer, i) => ({ newer, older: oldestFirst[i] as SigningKey }));
  const chain = links.map(({ newer: { jwk }, older }) =>
    sign(older, CHAIN_TYPE, { aud: accountId, kid: jwk.kid, crv: jwk.crv, x: jwk.x }),
  );
  return { keys: keys.map(({ jwk }) => jwk), chain: await Promise.all(chain) };
};
