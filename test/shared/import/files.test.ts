import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { failedName, openFailedFile } from '../../../src/shared/rules/import/failed-file.ts';
import { shapeOf } from '../../../src/shared/rules/import/shape.ts';
import { TEMPLATE } from '../../../src/shared/rules/import/template.ts';
import { type ReadFile, readText } from './read.ts';

test('finds the delimiter of a table, and says if it isn’t sure', () => {
  const delimiterOf = (text: string) => {
    const shape = shapeOf(text, true);
    return shape.kind === 'table' ? [shape.delimiter, shape.isSure] : shape.kind;
  };
  expect(delimiterOf('a,b\n1,2\n')).toEqual([',', true]);
  expect(delimiterOf('a;b\n1,5;2\n')).toEqual([';', true]);
  expect(delimiterOf('a\tb\n1\t2')).toEqual(['\t', true]);
  expect(delimiterOf('"a,b";c\n1;2\n')).toEqual([';', true]);
  expect(delimiterOf('sep=;\r\na,b;c\r\n')).toEqual([';', true]);
  expect(delimiterOf('key\nKEY-000001\n')).toEqual([',', true]);
  expect(delimiterOf('a,b;c\n1,2;3\n')).toEqual([',', false]);
  expect(delimiterOf('{"license_key":"KEY-000001"}\n{"license_key":"KEY-000002"}\n')).toBe('lines');
  expect(delimiterOf('[{"license_key":"KEY-000001"}]')).toBe('document');
  expect(delimiterOf('{\n  "data": []\n}\n')).toBe('document');
  expect(delimiterOf('')).toEqual([',', true]);
});

describe('our own format', () => {
  test('is taken as it is, also the template and an export', async () => {
    const template = await readText(TEMPLATE);
    expect([template.survey.source, template.outcomes[1]]).toEqual([
      'latchkey',
      {
        license_key: 'ORRERY-0002',
        customer_email: 'grace@example.com',
        customer_name: 'Grace Hopper',
        product: 'orrery',
        status: 'suspended',
        created_at: '2024-06-02',
        expires_at: null,
        metadata: { order: '1002' },
      },
    ]);
    const lines = [
      { type: 'account', id: 'acc_1', name: 'A', data: [1] },
      { type: 'product', code: 'orrery', name: null, terms: { entitlements: { pro: true } } },
      { type: 'license', license_key: 'KEY-000001', metadata: {}, id: 'lic_1' },
    ];
    const exported = await readText(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    expect([exported.survey.source, exported.outcomes]).toEqual(['latchkey', lines]);
  });

  test('may have semicolons and JSON in its cells', async () => {
    const text =
      'license_key;expires_at;terms\nKEY-000001;never;"{""max_activations"":2}"\nKEY-000002;never;{\n';
    expect((await readText(text)).outcomes).toEqual([
      { license_key: 'KEY-000001', expires_at: null, terms: { max_activations: 2 } },
      'failed: The columns metadata and terms must contain JSON.',
    ]);
  });
});

/** Returns the file of the rows that have failed. */
const failedFile = ({ shape, survey, reading, rows, outcomes }: ReadFile): string => {
  const { header, toRow } = openFailedFile(shape, survey.columns, reading);
  const failed = rows.flatMap((row, i) => {
    const reason = outcomes[i];
    return typeof reason === 'string' ? (toRow({ row, result: 'failed', line: null, reason }) ?? []) : [];
  });
  return header + failed.join('');
};

describe('the file of failed rows', () => {
  test('has the rows with their reasons, can be corrected, and hides no formula', async () => {
    const text = [
      'Schlüssel;Name;Gültig bis',
      'AAAA-0001;Ada;31.12.2027',
      'AAAA-0002;=HYPERLINK("x");bald',
      'AAAA-0003',
      'AAAA-0004;a;b;c',
      'AAAA-0005;"no end;',
    ].join('\n');
    const read = await readText(text);
    const failed = failedFile(read);
    expect(failed.replace(/“bald”.*$/m, '…')).toBe(
      [
        '\uFEFFSchlüssel;Name;Gültig bis;error',
        `AAAA-0002;"'=HYPERLINK(""x"")";bald;failed: Gültig bis: …`,
        'AAAA-0004;a;b;c',
        'AAAA-0005;"no end;',
        '',
      ].join('\n'),
    );
    const mended = await readText(failed.slice(1).replace(';bald;', ';31.12.2028;'));
    expect([mended.reading.columns['error'], mended.outcomes[0]]).toEqual([
      null,
      { license_key: 'AAAA-0002', customer_name: '=HYPERLINK("x")', expires_at: '2028-12-31' },
    ]);
    expect(failedFile(mended).split('\n')[0]).toBe('\uFEFFSchlüssel;Name;Gültig bis;error');
    expect(failedName('my.licenses.csv', read.shape)).toBe('my.licenses.failed.csv');
  });

  test('has JSON as lines of JSON', async () => {
    const item = { key: 'A', allowedActivations: 'many' };
    const read = await readText(JSON.stringify([item, 7]));
    const [first = '', second] = failedFile(read).split('\n');
    expect([JSON.parse(first), second]).toEqual([{ ...item, error: expect.stringContaining('many') }, '7']);
    expect((await readText(`${first}\n${first}\n`)).survey.source).toBe('cryptlex');
  });
});

test('keeps each row of any text as a line, a failure, or a row that is left out', async () => {
  const cell = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      'License Key',
      'key',
      'expiry',
      '"',
      '=1+1',
      '31/12/2027',
      'ada@example.com',
      '\r',
      '__proto__',
      '',
    ),
  );
  const table = fc
    .tuple(
      fc.constantFrom(',', ';', '\t'),
      fc.array(fc.array(cell, { minLength: 1, maxLength: 6 }), { maxLength: 8 }),
    )
    .map(([delimiter, rows]) => rows.map((cells) => cells.join(delimiter)).join('\n'));
  const json = fc
    .json({ maxDepth: 4 })
    .chain((text) =>
      fc.constantFrom(text, `${text}\n${text}`, `[${text},${text}]`, `{"data":[${text}]}`, `{"data":${text}`),
    );
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(table, json, fc.string({ unit: 'binary' })),
      fc.nat({ max: 99 }),
      async (text, chunk) => {
        const { rows, outcomes, survey } = await readText(text, { chunk: chunk + 1 });
        expect([outcomes.length, survey.rows]).toEqual([rows.length, rows.length]);
        for (const outcome of outcomes)
          expect(typeof outcome === 'string' ? outcome : {}).not.toBe('failed: ');
      },
    ),
    { numRuns: 300 },
  );
});

test('loses no row of a table, whatever is in its cells', async () => {
  const cells = fc.array(
    fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => text.replaceAll('"', '')),
    {
      minLength: 2,
      maxLength: 2,
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(cells, { maxLength: 20 }), async (rows) => {
      const body = rows.map((row, i) => [`KEY-0000${i}`, ...row].map((text) => `"${text}"`).join(';'));
      const { outcomes } = await readText(`license_key;customer_name;product\n${body.join('\n')}`);
      expect(outcomes.map((line) => (line as Record<string, unknown>)['license_key'])).toEqual(
        rows.map((_, i) => `KEY-0000${i}`),
      );
    }),
  );
});
