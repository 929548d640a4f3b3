import { expect, test } from 'vitest';
import { VERDICT_CODES } from '../../src/shared/rules/verdict.ts';

const [docs = ''] = Object.values(
  import.meta.glob<string>('../../docs/applications.md', { query: '?raw', import: 'default', eager: true }),
);

test('docs/applications.md explains every code, in the order of the judgment', () => {
  const section = docs.split(/^## /m).find((text) => text.startsWith('What each code means')) ?? '';
  const cells = [...section.matchAll(/^\| (`.*?) \|/gm)].map(([, cell = '']) => cell);
  const codes = cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, code]) => code));
  expect(codes).toEqual([...VERDICT_CODES]);
});
