// The secrets of a service, in a file that only a passphrase opens. The service itself never shows them again.
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fail } from './fail.ts';

export type Secrets = Record<string, string>;

interface Sealed {
  about: string;
  salt: string;
  nonce: string;
  sealed: string;
}

const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 2 ** 20 };
const TAG_LENGTH = 16;

const keyOf = (passphrase: string, salt: Buffer) => scryptSync(passphrase.normalize(), salt, 32, COST);

const seal = (secrets: Secrets, passphrase: string): string => {
  const [salt, nonce] = [randomBytes(16), randomBytes(12)];
  const cipher = createCipheriv('aes-256-gcm', keyOf(passphrase, salt), nonce);
  const text = Buffer.concat([cipher.update(JSON.stringify(secrets)), cipher.final(), cipher.getAuthTag()]);
  const sealed: Sealed = {
    about:
      'The secrets of a Latchkey service. `npm run deploy -- --recover FILE` opens this with its passphrase.',
    salt: salt.toString('base64'),
    nonce: nonce.toString('base64'),
    sealed: text.toString('base64'),
  };
  return `${JSON.stringify(sealed, null, 2)}\n`;
};

export const unseal = (file: string, passphrase: string): Secrets => {
  try {
    const { salt, nonce, sealed } = JSON.parse(readFileSync(file, 'utf8')) as Sealed;
    const text = Buffer.from(sealed, 'base64');
    const key = keyOf(passphrase, Buffer.from(salt, 'base64'));
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64'));
    decipher.setAuthTag(text.subarray(-TAG_LENGTH));
    const opened = Buffer.concat([decipher.update(text.subarray(0, -TAG_LENGTH)), decipher.final()]);
    return JSON.parse(opened.toString()) as Secrets;
  } catch {
    return fail(`${file} can’t be opened: the passphrase is wrong, or the file is damaged.`);
  }
};

/** Replaces the file in one step. A write that is cut off would otherwise destroy what may be the only copy of the secrets. */
export const writeRecovery = (file: string, secrets: Secrets, passphrase: string): void => {
  writeFileSync(`${file}.new`, seal(secrets, passphrase), { mode: 0o600 });
  renameSync(`${file}.new`, file);
};

const MAKERS: Record<string, () => string> = {
  API_KEY_SECRET: () => randomBytes(32).toString('hex'),
  SEALING_KEYS: () => `k1:${randomBytes(32).toString('base64')}`,
  SIGNING_KEYS: () => randomBytes(32).toString('base64'),
  OPERATOR_TOKEN: () => randomBytes(32).toString('hex'),
};

export const newSecrets = (names: string[]): Secrets =>
  Object.fromEntries(
    names.map((name) => [name, (MAKERS[name] ?? (() => fail(`Nobody knows how to make ${name}.`)))()]),
  );
