import stringWidth from 'fast-string-width';
import type { Colors } from 'picocolors/types';

export type Cell = string | number | boolean | null | undefined;

/** Replaces characters by which a text, such as a customer's name, controls the terminal or reorders its line. */
export const clean = (text: string): string => text.replace(/[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu, ' ');

const toText = (cell: Cell, empty: string): string =>
  cell === null || cell === undefined || cell === '' ? empty : clean(String(cell));

const align = (rows: string[][]): string[] => {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => stringWidth(row[i] ?? ''))));
  return rows.map((row) =>
    row
      .map((text, i) => (i === row.length - 1 ? text : text + ' '.repeat(widths[i]! - stringWidth(text))))
      .join('  '),
  );
};

/** A table for people: aligned columns under a heading. */
export const renderTable = (headings: string[], rows: Cell[][], colors: Colors): string => {
  const [heading = '', ...lines] = align([
    headings.map((text) => text.toUpperCase()),
    ...rows.map((row) => row.map((cell) => toText(cell, '–'))),
  ]);
  return [colors.dim(heading), ...lines].join('\n');
};

/** A table for programs: a line for each row, and tabs between the cells. */
export const renderTabs = (rows: Cell[][]): string =>
  rows.map((row) => row.map((cell) => toText(cell, '')).join('\t')).join('\n');

export const renderFields = (fields: Record<string, Cell>, colors: Colors): string => {
  const names = Object.keys(fields);
  const labels = align(names.map((name) => [clean(name).replaceAll('_', ' '), '']));
  return names.map((name, i) => colors.dim(labels[i] ?? '') + toText(fields[name], '–')).join('\n');
};
