// The rows of the result table.
import type { Figure } from './rounds.ts';

type Figures = Record<string, Figure>;

export const throughput = (figures: Figures, name: string) => figures[name]?.callsPerSecond ?? Number.NaN;
export const p50 = (figures: Figures, name: string) => figures[name]?.p50Ms ?? Number.NaN;

export type Row = [what: string, figure: string, ratio: string, must: string, verdict: string];

export const perSecond = (value: number) => `${Math.round(value)}/s`;
export const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 1)} ms`;
export const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
export const verdict = (isMet: boolean) => (isMet ? 'pass' : 'FAIL');

export const atLeast = (what: string, figure: string, ratio: number, least: number): Row => [
  what,
  figure,
  ratio.toFixed(2),
  `≥ ${least}`,
  verdict(ratio >= least),
];
export const atMost = (what: string, figure: string, ratio: number, most: number): Row => [
  what,
  figure,
  ratio.toFixed(2),
  `≤ ${most}`,
  verdict(ratio <= most),
];

const HEAD: Row = ['What', 'Figure', 'Ratio', 'Must reach', ''];

export const table = (body: Row[]): string => {
  const rows = [HEAD, ...body];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: Row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [line(HEAD), rule, ...body.map(line)].join('\n');
};
