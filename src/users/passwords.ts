import { Buffer } from 'node:buffer';
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

// Passwords are hashed with scrypt. Each hash is stored with its parameters, so that a login can replace a hash that was
// made with older parameters.

/** The parameters of new hashes. Tests that don't test them lower them, because a hash takes 0.2 s. */
export const HASH_PARAMETERS = { N: 2 ** 14, r: 8, p: 5 };
const HASH_BYTES = 32;
const SALT_BYTES = 16;

const derive = (
  password: string,
  salt: Buffer,
  { N, r, p }: typeof HASH_PARAMETERS,
  length: number,
): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    // Composed and decomposed forms of an accented letter count as the same password.
    scrypt(password.normalize('NFKC'), salt, length, { N, r, p, maxmem: 256 * N * r }, (error, hash) =>
      error ? reject(error) : resolve(hash),
    );
  });

const encode = ({ N, r, p }: typeof HASH_PARAMETERS, salt: Buffer, hash: Buffer) =>
  ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$');

const decode = (stored: string) => {
  const [scheme, N, r, p, salt, hash] = stored.split('$');
  if (scheme !== 'scrypt' || !salt || !hash) throw new Error('A stored password hash has an unknown format.');
  return {
    parameters: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
  };
};

export const hashPassword = async (password: string, parameters = HASH_PARAMETERS): Promise<string> => {
  const salt = randomBytes(SALT_BYTES);
  return encode(parameters, salt, await derive(password, salt, parameters, HASH_BYTES));
};

/** Checked when no account has the email address, so that the response takes as long as for a wrong password. */
export const unknownAccountHash = () =>
  encode(HASH_PARAMETERS, Buffer.alloc(SALT_BYTES), Buffer.alloc(HASH_BYTES));

export const checkPassword = async (password: string, stored: string) => {
  const { parameters, salt, hash } = decode(stored);
  const matches = timingSafeEqual(await derive(password, salt, parameters, hash.length), hash);
  const { N, r, p } = parameters;
  return {
    matches,
    isOutdated: N !== HASH_PARAMETERS.N || r !== HASH_PARAMETERS.r || p !== HASH_PARAMETERS.p,
  };
};
