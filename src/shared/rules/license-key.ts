// A generated license key is typed by people: five groups of five in Crockford's base32, of which the last
// character checks the others. It is a sum in GF(32), which catches every single mistyped character and
// every pair of neighbours swapped.

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const RANDOM_LENGTH = 24;
const GROUP = 5;

/** Times x in GF(32), whose polynomial is x⁵ + x² + 1. */
const timesX = (value: number) => (value & 16 ? (value << 1) ^ 0b100101 : value << 1);

/** Each place weighs x times the next, so no two of the 31 places weigh the same. */
const weigh = (values: Iterable<number>): number => {
  let sum = 0;
  for (const value of values) sum = timesX(sum) ^ value;
  return sum;
};

const grouped = (characters: string) => (characters.match(new RegExp(`.{${GROUP}}`, 'g')) ?? []).join('-');

export const generateLicenseKey = (): string => {
  const values = [...crypto.getRandomValues(new Uint8Array(RANDOM_LENGTH))].map((byte) => byte & 31);
  const check = timesX(weigh(values));
  return grouped([...values, check].map((value) => ALPHABET[value]).join(''));
};

/** What a person typed as the generated key that it must be, or null if it is none or has a mistake. */
export const readTypedKey = (typed: string): string | null => {
  // Crockford's reading: no case, O is zero, I and L are one; hyphens and spaces don't matter.
  const characters = typed.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1');
  if (characters.length !== RANDOM_LENGTH + 1) return null;
  const values = Array.from(characters, (character) => ALPHABET.indexOf(character));
  return values.includes(-1) || weigh(values) !== 0 ? null : grouped(characters);
};

export const MAX_LICENSE_KEY_LENGTH = 128;

/** The spellings to look for, in order: as presented, then as a generated key. Too long a key is none. */
export const spellingsOf = (presented: string): string[] => {
  if (presented.length > MAX_LICENSE_KEY_LENGTH) return [];
  const typed = readTypedKey(presented);
  return typed === null || typed === presented ? [presented] : [presented, typed];
};
