import { afterEach, expect, test, vi } from 'vitest';
import { codeOf, nearestCodes, notAProduct } from '../../src/shared/rules/nearest-products.ts';

const PRODUCTS = [
  { code: 'orrery-pro', name: 'Orrery Pro' },
  { code: 'orrery-studio', name: null },
  { code: 'sx-2', name: 'Étude No. 2' },
  { code: 'app', name: null },
];

afterEach(() => vi.restoreAllMocks());

test('the nearest products are those whose code or name has most in common with a text', () => {
  const CASES: [string, string[]][] = [
    ['Orrery Pro', ['orrery-pro', 'orrery-studio']],
    ['orery-studio', ['orrery-studio', 'orrery-pro']],
    ['etude no 2', ['sx-2']],
    ['ap', ['app']],
    ['nothing like it', []],
    ['☿', []],
  ];
  for (const [text, codes] of CASES) expect(nearestCodes(text, PRODUCTS), text).toEqual(codes);
});

test('a thousand long products are compared by reading each of them once', () => {
  const products = Array.from({ length: 1_000 }, (_, i) => ({
    code: `${i}-${'x'.repeat(58)}`,
    name: `${i} ${'y'.repeat(190)}`,
  }));
  const read = vi.spyOn(String.prototype, 'normalize').mock.calls;
  const lookups = vi.spyOn(Set.prototype, 'has').mock.calls;
  const nearest = nearestCodes('z'.repeat(200), products);
  const counts = { read: read.length, lookups: lookups.length };
  expect(nearest).toEqual([]);
  // Codes and names, and the text itself, which has three different pairs of characters: at its start, in it, and at its end.
  expect(counts).toEqual({ read: 2 * 1_000 + 1, lookups: 3 * 2 * 1_000 });
});

test('a text names a product if only case, spaces and signs differ, and it is the only one', () => {
  expect(codeOf('app', PRODUCTS)).toBe('app');
  expect(codeOf('ORRERY PRO', PRODUCTS)).toBe('orrery-pro');
  expect(codeOf('Etude No 2', PRODUCTS)).toBe('sx-2');
  expect(codeOf('orrery', PRODUCTS)).toBeNull();
  expect(codeOf('—', [{ code: '-', name: null }])).toBeNull();
  const twins = [...PRODUCTS, { code: 'orrery.pro', name: null }];
  expect(codeOf('Orrery Pro', twins)).toBeNull();
  expect(codeOf('orrery.pro', twins)).toBe('orrery.pro');
});

test('the message lists what was probably meant', () => {
  expect(notAProduct(['a', 'b', 'c'])).toBe('is not a product. Did you mean "a", "b" or "c"?');
});
