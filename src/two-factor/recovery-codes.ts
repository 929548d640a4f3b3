import { eq } from 'drizzle-orm';
import type { PublicCtx } from '../db/ctx.ts';
import { recoveryCodes } from '../db/schema.ts';
import { sha256 } from '../shared/crypto/hash.ts';
import { random16Bits } from '../shared/crypto/random.ts';
import { CROCKFORD } from '../shared/rules/license-key.ts';

/** 80 random bits, so a plain hash is enough to store. */
const LENGTH = 16;
const CODES = 10;

const newCode = (): string => Array.from({ length: LENGTH }, () => CROCKFORD[random16Bits() & 31]).join('');

const inGroups = (code: string): string => code.replace(/.{4}(?=.)/g, '$&-');

export const newRecoveryCodes = (): string[] => Array.from({ length: CODES }, () => inGroups(newCode()));

/** Returns the hash under which a recovery code is stored, however it is typed. */
export const hashRecoveryCode = (code: string): string =>
  sha256(
    code
      .toUpperCase()
      .replace(/[^0-9A-Z]/g, '')
      .replaceAll('O', '0')
      .replace(/[IL]/g, '1'),
  );

/** Statements that put these codes in the place of all others. */
export const storeCodes = ({ firstDb }: PublicCtx, accountId: string, codes: string[]) =>
  [
    firstDb.delete(recoveryCodes).where(eq(recoveryCodes.accountId, accountId)),
    firstDb
      .insert(recoveryCodes)
      .values(codes.map((code) => ({ accountId, codeHash: hashRecoveryCode(code) }))),
  ] as const;
