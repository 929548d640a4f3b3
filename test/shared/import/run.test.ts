import { expect, test } from 'vitest';
import { findProducts, openProductCount } from '../../../src/shared/rules/import/products.ts';
import type { RowOutcome } from '../../../src/shared/rules/import/reading.ts';
import type { SourceRow } from '../../../src/shared/rules/import/rows.ts';
import {
  importRows,
  type LineAnswer,
  type PartAnswer,
  reasonOf,
  toPartAnswer,
} from '../../../src/shared/rules/import/run.ts';

async function* rowsOf(outcomes: RowOutcome[]): AsyncGenerator<SourceRow> {
  for (const [i, outcome] of outcomes.entries())
    yield {
      line: i + 2,
      text: 'x',
      isCut: false,
      fields: { outcome },
      problem: '',
      cells: null,
      columns: null,
    };
}
const outcomeOf = ({ fields }: SourceRow) => fields?.['outcome'] as RowOutcome;
const linesIn = (body: string) =>
  body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
const created = (body: string): PartAnswer => ({
  results: linesIn(body).map((_, i) => ({ line: i + 1, result: 'created' })),
  cursor: null,
});

const run = async (
  outcomes: RowOutcome[],
  send: (body: string, cursor: string | null) => PartAnswer,
  options: { isDryRun?: boolean; after?: number } = {},
) => {
  const bodies: string[] = [];
  const parts = [];
  const sent = async (body: string, cursor: string | null) => {
    bodies.push(body);
    return send(body, cursor);
  };
  for await (const part of importRows(rowsOf(outcomes), outcomeOf, sent, { isDryRun: false, ...options }))
    parts.push(part);
  return { bodies, parts, results: parts.flatMap(({ results }) => results) };
};

test('sends parts of a bounded size, and tells what became of each row', async () => {
  const long = Array.from({ length: 30 }, (_, i) => ({
    line: { license_key: `KEY-${i}`, note: 'x'.repeat(60_000) },
  }));
  const { bodies, parts } = await run(long, created);
  expect(bodies.length).toBe(2);
  expect(Math.max(...bodies.map((body) => body.length))).toBeLessThanOrEqual(1024 * 1024);
  expect(parts.map(({ rows, length }) => [rows, length])).toEqual([
    [17, 34],
    [30, Infinity],
  ]);
  const { results, bodies: sent } = await run(
    [
      { line: { license_key: 'A' } },
      { problem: 'No date.' },
      { leftOut: 'it is a total' },
      { line: { note: 'x'.repeat(70_000) } },
      { line: { license_key: 'B' } },
    ],
    created,
  );
  expect(sent).toEqual(['{"license_key":"A"}\n{"license_key":"B"}\n']);
  expect(results.map(({ row, result, reason }) => [row.line, result, reason])).toEqual([
    [2, 'created', ''],
    [3, 'failed', 'No date.'],
    [4, 'left out', 'it is a total'],
    [5, 'failed', 'The row has more than 65536 characters.'],
    [6, 'created', ''],
  ]);
});

test('goes on at the cursor and after the rows of an earlier run, and numbers equal rows without a key', async () => {
  const same = { line: { customer_email: 'ada@example.com' } };
  const answers: PartAnswer[] = [
    { results: [{ line: 1, result: 'created' }], cursor: '1' },
    { results: [{ line: 2, result: 'failed', error: { code: 'no', message: 'No.' } }], cursor: null },
  ];
  const { bodies, results } = await run([same, same, same], () => answers.shift() as PartAnswer, {
    after: 1,
  });
  expect(bodies[0]).toBe(
    '{"customer_email":"ada@example.com","copy":2}\n{"customer_email":"ada@example.com","copy":3}\n',
  );
  expect(bodies[1]).toBe(bodies[0]);
  expect(results.map(({ row, result, reason }) => [row.line, result, reason])).toEqual([
    [3, 'created', ''],
    [4, 'failed', 'No.'],
  ]);
});

test('a dry run takes it that earlier parts have created their licenses', async () => {
  const license = { line: { license_key: 'KEY-1' } };
  const machine = (license_key: string) => ({ line: { type: 'activation', license_key } });
  const unknown = { code: 'license_not_found', message: 'License Not Found' };
  const results: LineAnswer[] = [
    { line: 1, result: 'created' },
    { line: 2, result: 'failed', error: unknown },
    { line: 3, result: 'failed', error: unknown },
  ];
  const outcomes = [license, machine('KEY-1'), machine('KEY-2')];
  const read = async (isDryRun: boolean) =>
    (await run(outcomes, () => ({ results, cursor: null }), { isDryRun })).results.map(
      ({ result }) => result,
    );
  expect(await read(true)).toEqual(['created', 'created', 'failed']);
  expect(await read(false)).toEqual(['created', 'failed', 'failed']);
});

test('says all that the service has said, and notices an answer that was cut off', () => {
  const details = [
    { path: 'license_key', message: 'must have at least 8 characters' },
    { path: 'product', message: 'is not a product. Did you mean orrery_pro?' },
    { path: 'metadata.order_no', message: 'is too long' },
    { path: 'terms.max_activations', message: 'can’t be combined with expires_at' },
  ];
  expect(reasonOf({ error: { code: 'invalid_request', message: 'Invalid Request', details } })).toBe(
    'License key: must have at least 8 characters; Product: is not a product. Did you mean orrery_pro?; Metadata order_no: is too long; ' +
      'Terms max activations: can’t be combined with expires at',
  );
  expect(reasonOf({ error: { code: 'limit', message: 'Too many.' } })).toBe('Too many.');
  const line = { line: 1, result: 'created' };
  expect(toPartAnswer([line])).toBe(null);
  expect(toPartAnswer([line, { totals: {}, next_cursor: null }])).toEqual({ results: [line], cursor: null });
  expect(toPartAnswer([line, { ...line, line: 2 }, { totals: {}, next_cursor: '1' }])).toEqual({
    results: [line],
    cursor: '1',
  });
});

test('finds the products that a file names', () => {
  const count = openProductCount();
  for (const line of [
    { product: 'Orrery PRO' },
    { product: 'Orrery PRO' },
    { product: 'Sextan' },
    { type: 'product', code: 'made-here' },
    { product: 'made-here' },
    { type: 'license', id: 'lic_1', product: 'Old label' },
    { product: '' },
    {},
  ])
    count.add(line);
  const products = [
    { code: 'orrery-pro', name: 'Orrery Pro' },
    { code: 'sx-2', name: 'Sextant' },
  ];
  expect(findProducts(count.result(), products, true)).toEqual([
    { product: 'Orrery PRO', lines: 2, code: 'orrery-pro', nearest: [] },
    { product: 'Sextan', lines: 1, code: null, nearest: ['sx-2'] },
  ]);
  expect(findProducts(count.result(), products, false)[0]?.code).toBe(null);
  expect(findProducts(count.result(), [], true).map(({ code }) => code)).toEqual(['Orrery PRO', 'Sextan']);
});
