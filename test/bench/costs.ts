// What a month costs at Cloudflare, from the figures of docs/benchmarks.md and the prices beside this file. Tables for
// docs/costs.md.
import { PAID_PLAN, ROWS_WRITTEN, STORED_GB } from './prices.ts';

interface MillionCalls {
  /** US dollars, beyond what the plan includes. */
  total: number;
  /** The rows that each writes, which are part of the total. */
  rows: number;
}

const found = (text: string, pattern: RegExp): string[] => {
  const match = pattern.exec(text);
  if (!match) throw new Error(`docs/benchmarks.md has no ${pattern.source}`);
  return match.slice(1);
};

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.replaceAll('*', '').trim());

/** The column of the table that has the heading, with the name of each row. */
const columnOf = (markdown: string, section: string, heading: string): [name: string, cell: string][] => {
  const text = markdown.split(/^#{2,3} /m).find((part) => part.startsWith(section)) ?? '';
  const [first = '', , ...lines] = text.split('\n').filter((line) => line.startsWith('|'));
  const column = cellsOf(first).indexOf(heading);
  if (column === -1) throw new Error(`docs/benchmarks.md has no column “${heading}”`);
  const end = lines.findIndex((line) => cellsOf(line)[0] === '');
  return lines.slice(0, end === -1 ? lines.length : end).map((line) => {
    const cells = cellsOf(line);
    return [cells[0] ?? '', cells[column] ?? ''];
  });
};

/** Calls that come one by one cost most, and most calls do. */
export const readBenchmarks = (markdown: string) => {
  const lone = columnOf(markdown, 'What a million verifies cost', 'Lone verifies, one endpoint');
  const isTotal = ([name]: [string, string]) => name === 'A million verifies';
  const rows = lone.slice(0, lone.findIndex(isTotal)).reduce((sum, [, cell]) => sum + Number(cell), 0);
  const [total = ''] = found(lone.find(isTotal)?.[1] ?? '', /^\$([\d.]+)$/);
  const [home = '', branch = ''] = found(
    markdown,
    /a million verifies at one connection, with home only; with a branch \| \$([\d.]+); \$([\d.]+)/,
  );
  const [disk = ''] = found(markdown, /verifying a million different licenses \|.*?disk ([\d.]+) MiB/);
  return {
    withWebhooks: { total: Number(total), rows },
    withoutWebhooks: { total: Math.max(Number(home), Number(branch)), rows: 0 },
    gateBytesOfLicense: (Number(disk) * 1024 ** 2) / 1e6,
  };
};

export type Benchmarks = ReturnType<typeof readBenchmarks>;

/** With its rows in D1’s indexes, and its entry in the audit log. */
const D1_BYTES_OF_LICENSE = 1_021;

/** A month with so many million calls. Only the rows that the plan includes are left out, so the bill is lower. */
export const monthOfCalls = ({ total, rows }: MillionCalls, millions: number): number =>
  PAID_PLAN.perMonth +
  millions * (total - rows * ROWS_WRITTEN) +
  Math.max(0, millions * rows - PAID_PLAN.rowsWritten) * ROWS_WRITTEN;

/** What so many licenses add to a month. */
export const storageOfLicenses = ({ gateBytesOfLicense }: Benchmarks, licenses: number): number => {
  const beyond = (bytes: number) => Math.max(0, (licenses * bytes) / 1e9 - PAID_PLAN.storedGb);
  return beyond(D1_BYTES_OF_LICENSE) * STORED_GB.d1 + beyond(gateBytesOfLicense) * STORED_GB.objects;
};

const count = (value: number) => value.toLocaleString('en-US');
/** A bill of many dollars is not known to the cent. */
const dollars = (value: number) =>
  value < 100 ? `$${value.toFixed(2)}` : `$${count(Math.round(value / 10) * 10)}`;

const CALLS: [millions: number, example: string][] = [
  [0.01, '300 machines that start once a day'],
  [0.1, '3,000 machines'],
  [1, '30,000 machines'],
  [10, '300,000 machines'],
  [100, '3,000,000 machines'],
];
const LICENSES = [100_000, 1_000_000, 5_000_000, 20_000_000];

const table = (headings: string[], rows: string[][]): string[] =>
  [headings, headings.map(() => '---'), ...rows].map((cells) =>
    cells.every((cell) => cell === '---') ? `|${cells.join('|')}|` : `| ${cells.join(' | ')} |`,
  );

export const costTables = (benchmarks: Benchmarks): string[][] => [
  table(
    ['Licensing calls a month', 'For example', 'A month', 'With a webhook for each `license.verified`'],
    CALLS.map(([millions, example]) => [
      count(millions * 1e6),
      example,
      dollars(monthOfCalls(benchmarks.withoutWebhooks, millions)),
      dollars(monthOfCalls(benchmarks.withWebhooks, millions)),
    ]),
  ),
  table(
    ['Licenses', 'In D1', 'In the gate', 'Adds to a month'],
    LICENSES.map((licenses) => [
      count(licenses),
      `${((licenses * D1_BYTES_OF_LICENSE) / 1e9).toFixed(1)} GB`,
      `${((licenses * benchmarks.gateBytesOfLicense) / 1e9).toFixed(1)} GB`,
      dollars(storageOfLicenses(benchmarks, licenses)),
    ]),
  ),
];

/** Puts each table in the place of the one with the same first line. */
export const withTables = (page: string, tables: string[][]): string => {
  const lines = page.split('\n');
  for (const rows of tables) {
    const start = lines.indexOf(rows[0] ?? '');
    if (start === -1) throw new Error(`docs/costs.md has no table that begins with: ${rows[0]}`);
    let end = start;
    while (lines[end]?.startsWith('|')) end += 1;
    lines.splice(start, end - start, ...rows);
  }
  return lines.join('\n');
};
