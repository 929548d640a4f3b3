import { describe, expect, test } from 'vitest';
import { firstRecord, fromCell, readCsv, toCsvRecord } from '../../src/shared/rules/csv.ts';

describe('reading CSV', () => {
  const read = (text: string) => [...readCsv(text)].map(({ line, cells }) => [line, ...cells]);

  test('keeps records apart, whatever their cells contain', () => {
    expect(read('a,5" disk\r\n"b","two\nlines, ""quoted"""\n\n , \nc,\rd')).toEqual([
      [1, 'a', '5" disk'],
      [2, 'b', 'two\nlines, "quoted"'],
      [6, 'c', ''],
      [7, 'd'],
    ]);
  });

  test('marks a record whose quote isn’t closed', () => {
    expect(firstRecord('a,"b\nc')).toEqual({ line: 1, cells: ['a', 'b\nc'], isUnfinished: true });
  });
});

test.for([
  ['=HYPERLINK("https://evil.example")', `"'=HYPERLINK(""https://evil.example"")"`],
  ['+49 30 1234', "'+49 30 1234"],
  ['-1', "'-1"],
  ['@sum', "'@sum"],
  ["'=1", "''=1"],
  ["'tis", "'tis"],
  ['a=b', 'a=b'],
] as const)('%s is written so that a spreadsheet shows it as text, and read as it was', ([value, cell]) => {
  expect(toCsvRecord([value])).toBe(cell);
  expect(fromCell(firstRecord(cell)?.cells[0] ?? '')).toBe(value);
});
