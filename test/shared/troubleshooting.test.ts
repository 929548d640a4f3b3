import { expect, test } from 'vitest';
import { ERRORS } from '../../src/http/errors.ts';
import { VERDICT_CODES } from '../../src/shared/rules/verdict.ts';

const texts = import.meta.glob<string>(['../../docs/troubleshooting.md', '../../src/client/core/types.ts'], {
  query: '?raw',
  import: 'default',
  eager: true,
});
const page = texts['../../docs/troubleshooting.md'] ?? '';
const types = texts['../../src/client/core/types.ts'] ?? '';

/** The cells of each row of the section's tables. */
const rowsOf = (heading: string): string[][] => {
  const section = page.split(/^#{2,3} /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^\| (`.*) \|$/gm)].map(([, row = '']) =>
    row.split(' | ').map((cell) => cell.replaceAll('`', '')),
  );
};

test('docs/troubleshooting.md explains every error of the API, with its status', () => {
  const documented = rowsOf('What the API answers').map(([code, status]) => [code, Number(status)]);
  expect(Object.fromEntries(documented)).toEqual(
    Object.fromEntries(Object.entries(ERRORS).map(([code, { status }]) => [code, status])),
  );
  expect(documented).toHaveLength(Object.keys(ERRORS).length);
});

test('docs/troubleshooting.md explains every code that an application may have', () => {
  const [, union = ''] = /type LicenseCode =(.*?);/s.exec(types) ?? [];
  const ownCodes = [...union.matchAll(/\| '(\w+)'/g)].map(([, code]) => code);
  expect(ownCodes.length).toBeGreaterThan(5);
  const codes = [...VERDICT_CODES.filter((code) => code !== 'valid'), ...ownCodes];
  expect(rowsOf('What a customer sees').map(([code]) => code)).toEqual(codes);
});

test('docs/troubleshooting.md explains every kind of problem that the client package names', () => {
  const [, union = ''] = /kind: ((?:'\w+'(?: \| )?)+)/.exec(types) ?? [];
  const kinds = [...union.matchAll(/'(\w+)'/g)].map(([, kind]) => kind);
  expect(kinds.length).toBeGreaterThan(3);
  expect(rowsOf('An application that gets no verdict').map(([kind]) => kind)).toEqual(kinds);
});

test('docs/troubleshooting.md says a cause and a remedy for each symptom', () => {
  const rows = [...page.matchAll(/^\| (?!-)(.*) \|$/gm)].map(([, row = '']) => row.split(' | '));
  expect(rows.length).toBeGreaterThan(60);
  expect(rows.filter((cells) => cells.length < 3 || cells.some((cell) => cell.trim() === ''))).toEqual([]);
});
