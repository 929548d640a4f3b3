import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { normalizeTypedKey } from '../../../src/shared/rules/license-key.ts';

// What people copy from the documentation, the API's document, error messages, and examples.

const FILES = execFileSync(
  'git',
  ['ls-files', '-co', '--exclude-standard', '--', '*.md', 'docs', 'examples', 'src', 'conformance/**/*.md'],
  { encoding: 'utf8' },
)
  .split('\n')
  .filter((name) => /\.(md|ts|tsx|js|json|py|go|html)$/.test(name));

const found = (pattern: RegExp): string[] =>
  FILES.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(pattern)].map(([text]) => `${file}: ${text}`),
  );

test('every example of a license key has the right check character', () => {
  const keys = found(/\b[0-9A-HJKMNP-TV-Z]{5}(?:-[0-9A-HJKMNP-TV-Z]{5}){4}\b/g);
  expect(keys.length).toBeGreaterThan(2);
  const wrong = keys.filter((place) => normalizeTypedKey(place.split(': ')[1] ?? '') === null);
  expect(wrong).toEqual([]);
});

test('every mention of a command says how it is started', () => {
  // Headings and the help's list name commands, as the tool itself does.
  expect(found(/`latchkey [a-z]+ ?[a-z-]*/g)).toEqual([]);
});
