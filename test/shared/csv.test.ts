import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromCell, readCells, toCsvRecord } from '../../src/shared/rules/csv.ts';
import { readCsvRecord, readFields } from '../../src/shared/rules/import-lines.ts';
import { CSV_COLUMNS, toCsvCells } from '../../src/shared/rules/license-csv.ts';
import { type ImportFormat, openRecords } from '../../src/shared/rules/records.ts';
import { MAX_LINE_LENGTH } from '../../src/shared/rules/transfer-limits.ts';

const recordsOf = (format: ImportFormat, chunks: string[]) => {
  const records = openRecords(format);
  return [...chunks.flatMap((chunk) => [...records.read(chunk)]), ...records.end()];
};

describe('reading CSV', () => {
  const text = 'a,5" disk\r\n"b","two\r\nlines, ""quoted"""\n\n , \nc,\rd\r\n"e"x\n"",f';
  const cells = [
    [1, 'a', '5" disk'],
    [2, 'b', 'two\r\nlines, "quoted"'],
    [6, 'c', ''],
    [7, 'd'],
    [8, 'ex'],
    [9, '', 'f'],
  ];
  const read = (chunks: string[]) =>
    recordsOf('csv', chunks).flatMap((record) => {
      const found = readCsvRecord(record);
      return found && 'cells' in found ? [[record.line, ...found.cells]] : [];
    });

  test('keeps records apart, whatever their cells contain, and wherever the text is split', () => {
    expect(read([text])).toEqual(cells);
    expect(read(text.split(''))).toEqual(cells);
    for (let i = 0; i < text.length; i++) expect(read([text.slice(0, i), text.slice(i)])).toEqual(cells);
  });

  test('marks a record whose quote isn’t closed', () => {
    expect(readCells('a,"b\nc')).toMatchObject({ cells: ['a', 'b\nc'], isUnfinished: true });
  });

  test('reads at most 200 cells of a record', () => {
    expect(readCells(','.repeat(199))).toMatchObject({ cells: { length: 200 }, isTooWide: false });
    expect(readCells(','.repeat(60_000))).toMatchObject({ cells: { length: 200 }, isTooWide: true });
  });
});

test.for(['csv', 'ndjson'] as const)('keeps only the beginning of a %s line that is too long', (format) => {
  const long = `"${'x'.repeat(999)}`;
  const chunks = ['ab\n', ...Array.from({ length: 100 }, () => long.replaceAll('"', '1')), '\ncd\n'];
  const lines = recordsOf(format, chunks).map(({ line, text, isTooLong }) => [line, text.length, isTooLong]);
  expect(lines).toEqual([
    [1, 2, false],
    [2, MAX_LINE_LENGTH, true],
    [3, 2, false],
  ]);
});

test.for([
  ['=HYPERLINK("https://evil.example")', `"'=HYPERLINK(""https://evil.example"")"`],
  ['+49 30 1234', "'+49 30 1234"],
  ['-1', "'-1"],
  ['@sum', "'@sum"],
  ["'=1", "''=1"],
  ["'tis", "'tis"],
  ['a=b', 'a=b'],
  ['Ada;=HYPERLINK(A1)', "Ada;'=HYPERLINK(A1)"],
  ['Ada; "-1', `"Ada; ""'-1"`],
  ["Ada;'=1", "Ada;''=1"],
  ['Ada\n+1', `"Ada\n'+1"`],
  ['=1;=2', "'=1;'=2"],
  ['a; b;c', 'a; b;c'],
] as const)('%s is written so that a spreadsheet shows it as text, and read as it was', ([value, cell]) => {
  expect(toCsvRecord([value])).toBe(cell);
  expect(fromCell(readCells(cell).cells[0] ?? '')).toBe(value);
});

const pieces = fc.constantFrom('=', '+', '-', '@', "'", '"', ';', ',', ' ', '\t', '\r', '\n', 'a', '1');
const hostileText = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join(''));

test('any text is read as it was written, and begins no formula, wherever a spreadsheet divides the line', () => {
  fc.assert(
    fc.property(fc.array(hostileText, { minLength: 1, maxLength: 3 }), (values) => {
      const record = toCsvRecord(values);
      const { cells } = readCells(record);
      expect(cells.map(fromCell)).toEqual(values);
      for (const read of cells) expect(read).not.toMatch(/^[=+\-@]/);
      expect(record).not.toMatch(/[;\t\r\n][" ]*[=+\-@]/);
    }),
  );
});

test('a license’s metadata and terms are read from a CSV file as they were written', () => {
  fc.assert(
    fc.property(hostileText, hostileText, (name, value) => {
      const license = { metadata: { [name]: value }, terms: { entitlements: { [name]: value } } };
      const { cells } = readCells(toCsvRecord(toCsvCells(license)));
      expect(readFields([...CSV_COLUMNS], cells)).toMatchObject({ value: license });
    }),
    {
      examples: [
        ['note', 'Ada;=1'],
        ['note', "Ada;'=1"],
      ],
    },
  );
});
