import { MAX_LICENSE_KEY_LENGTH } from './licenses.ts';

// Customers type license keys, so a generated key is five groups of five characters in Crockford's base32. The last
// character is a checksum in GF(32), which detects every single wrong character and every swap of two neighbors.

export const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const RANDOM_LENGTH = 24;
const GROUP_LENGTH = 5;

/** Multiplies by x in GF(32), with the polynomial x⁵ + x² + 1. */
const timesX = (value: number) => (value & 16 ? (value << 1) ^ 0b100101 : value << 1);

/** A weighted sum. Each position weighs x times the next, so that up to 31 positions all have different weights. */
const checksum = (values: Iterable<number>): number => {
  let sum = 0;
  for (const value of values) sum = timesX(sum) ^ value;
  return sum;
};

const inGroups = (characters: string) =>
  (characters.match(new RegExp(`.{${GROUP_LENGTH}}`, 'g')) ?? []).join('-');

/** Returns the license key for 24 random bytes. */
export const licenseKeyOf = (bytes: Uint8Array): string => {
  const values = [...bytes.subarray(0, RANDOM_LENGTH)].map((byte) => byte & 31);
  const checkValue = timesX(checksum(values));
  return inGroups([...values, checkValue].map((value) => CROCKFORD[value]).join(''));
};

export const generateLicenseKey = (): string =>
  licenseKeyOf(crypto.getRandomValues(new Uint8Array(RANDOM_LENGTH)));

/** Returns the canonical form of a generated key that a person typed, or null if the text isn't such a key. */
export const normalizeTypedKey = (typed: string): string | null => {
  // Crockford's base32 ignores case and hyphens, and reads O as 0, and I and L as 1. Spaces are ignored as well.
  const characters = typed.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1');
  if (characters.length !== RANDOM_LENGTH + 1) return null;
  const values = Array.from(characters, (character) => CROCKFORD.indexOf(character));
  return values.includes(-1) || checksum(values) !== 0 ? null : inGroups(characters);
};

/**
 * Returns the license keys to look up for a presented key, in order: the exact text, then the generated key that it may
 * be a spelling of. No stored key is longer than the limit, so a longer text matches none.
 */
export const candidateKeys = (presented: string): string[] => {
  if (presented.length > MAX_LICENSE_KEY_LENGTH) return [];
  const generated = normalizeTypedKey(presented);
  return generated === null || generated === presented ? [presented] : [presented, generated];
};

/** What stands for a license key in snippets and previews. No license of the service has it. */
export const EXAMPLE_LICENSE_KEY = '7K3QD-9WZXA-M2RTB-H5NVE-40GPW';
