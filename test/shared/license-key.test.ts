import fc from 'fast-check';
import { expect, test } from 'vitest';
import { generateLicenseKey, normalizeTypedKey, candidateKeys } from '../../src/shared/rules/license-key.ts';

const ALPHABET = Array.from('0123456789ABCDEFGHJKMNPQRSTVWXYZ');

const generated = fc.noShrink(fc.constant(null).map(generateLicenseKey));
/** A position in the key that is not a hyphen. */
const position = fc.nat(24).map((i) => i + Math.floor(i / 5));

const replaced = (key: string, at: number, character: string) =>
  key.slice(0, at) + character + key.slice(at + 1);

test('a generated license key is five groups of five random characters', () => {
  const keys = Array.from({ length: 2_000 }, generateLicenseKey);
  for (const key of keys) expect(key).toMatch(/^([0-9A-HJKMNP-TV-Z]{5}-){4}[0-9A-HJKMNP-TV-Z]{5}$/);
  expect(new Set(keys).size).toBe(keys.length);
  // All 32 characters occur at each of the 25 positions.
  const charactersPerPosition = Array.from({ length: 29 }, (_, i) => new Set(keys.map((key) => key[i])).size);
  expect(charactersPerPosition.filter((count) => count === 32)).toHaveLength(25);
});

test('a generated key is recognized with other case, spacing and look-alike characters', () => {
  const variants: Record<string, string> = { '0': '0Oo', '1': '1IiLl', '-': '- _' };
  const typed = fc.tuple(generated, fc.infiniteStream(fc.nat(4))).map(([key, choices]) => {
    const spelled = Array.from(key, (character) => {
      const { value } = choices.next();
      if (character === '-') return ['-', '', ' ', '  ', ' - '][value] ?? '';
      const spellings = variants[character] ?? character + character.toLowerCase();
      return spellings[value % spellings.length] ?? character;
    });
    return { key, typed: spelled.join('') };
  });
  fc.assert(
    fc.property(typed, ({ key, typed }) => {
      expect(normalizeTypedKey(typed)).toBe(key);
      expect(candidateKeys(typed)).toEqual(typed === key ? [key] : [typed, key]);
    }),
    { numRuns: 500 },
  );
});

test('any single mistyped character is detected', () => {
  const key = generateLicenseKey();
  const all = Array.from(key).flatMap((old, at) =>
    old === '-' ? [] : ALPHABET.filter((other) => other !== old).map((other) => replaced(key, at, other)),
  );
  expect(all).toHaveLength(25 * 31);
  expect(all.map(normalizeTypedKey).filter((read) => read !== null)).toEqual([]);
  fc.assert(
    fc.property(generated, position, fc.constantFrom(...ALPHABET), (key, at, other) => {
      fc.pre(key[at] !== other);
      return normalizeTypedKey(replaced(key, at, other)) === null;
    }),
    { numRuns: 2_000 },
  );
});

test('any swap of two different neighboring characters is detected', () => {
  fc.assert(
    fc.property(generated, fc.nat(23), (key, i) => {
      const characters = Array.from(key.replaceAll('-', ''));
      const [left = '', right = ''] = [characters[i], characters[i + 1]];
      fc.pre(left !== right);
      characters.splice(i, 2, right, left);
      expect(normalizeTypedKey(characters.join(''))).toBeNull();
    }),
    { numRuns: 2_000 },
  );
});

test('other text is looked up as typed, and not at all beyond 128 characters', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 128, unit: 'grapheme' }), (text) => {
      fc.pre(normalizeTypedKey(text) === null);
      expect(candidateKeys(text)).toEqual(text.length <= 128 ? [text] : []);
    }),
  );
  expect(candidateKeys('x'.repeat(129))).toEqual([]);
});

test.for([
  { name: 'empty text', text: '' },
  { name: 'only hyphens', text: '-----' },
  { name: 'five characters', text: 'ABCDE' },
  { name: 'characters outside the alphabet', text: 'U'.repeat(25) },
  { name: '24 characters', text: '0'.repeat(24) },
  { name: '26 characters', text: '0'.repeat(26) },
])('$name is not a generated license key', ({ text }) => {
  expect(normalizeTypedKey(text)).toBeNull();
});
