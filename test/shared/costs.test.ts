import { expect, test } from 'vitest';
import {
  type Benchmarks,
  costTables,
  monthOfCalls,
  readBenchmarks,
  storageOfLicenses,
  withTables,
} from '../bench/costs.ts';

const pages = import.meta.glob<string>('../../docs/{benchmarks,costs}.md', {
  query: '?raw',
  import: 'default',
  eager: true,
});
const benchmarks = readBenchmarks(pages['../../docs/benchmarks.md'] ?? '');

test('the tables of docs/costs.md follow from docs/benchmarks.md', () => {
  const page = pages['../../docs/costs.md'] ?? '';
  expect(withTables(page, costTables(benchmarks))).toBe(page);
  expect(costTables(benchmarks).flat().length).toBeGreaterThan(12);
});

test('a month costs the plan and what is beyond it', () => {
  const calls = { total: 15, rows: 12 };
  expect(monthOfCalls(calls, 0)).toBe(5);
  // The plan includes 50 million rows.
  expect(monthOfCalls(calls, 4)).toBe(5 + 4 * 3);
  expect(monthOfCalls(calls, 10)).toBe(5 + 10 * 3 + (120 - 50));
  expect(storageOfLicenses(benchmarks, 4_000_000)).toBe(0);
  const gate: Benchmarks = { ...benchmarks, gateBytesOfLicense: 1_000 };
  expect(storageOfLicenses(gate, 10_000_000)).toBeCloseTo(5.21 * 0.75 + 5 * 0.2);
});

test('figures that are missing from docs/benchmarks.md are noticed', () => {
  expect(() => readBenchmarks('# Benchmarks\n')).toThrow(/no column/);
});
