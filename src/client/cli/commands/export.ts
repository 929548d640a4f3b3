import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { toCsvRecord } from '../../../shared/rules/csv.ts';
import { CSV_COLUMNS, toCsvCells } from '../../../shared/rules/license-csv.ts';
import { command } from '../command.ts';
import { answer } from '../connection.ts';
import { CliError } from '../failure.ts';
import { readValues } from '../transfer/lines.ts';

const TIMEOUT_MS = 3_600_000;
const PROGRESS_LINES = 1_000;

type Line = Record<string, unknown>;

const toCsv = (line: Line): string | null =>
  line['type'] === 'license' ? toCsvRecord(toCsvCells(line)) : null;

export const exportLicenses = command({
  name: 'licenses export',
  args: [],
  summary: 'Export licenses and everything else of the account',
  details: [
    'Writes lines of JSON that licenses import takes. Secrets are not among them.',
    'An export that was cut off is not written to FILE, and the exit status is 2.',
  ],
  options: {
    out: { value: 'FILE', help: 'The file to write. By default, standard output' },
    csv: { help: 'Write only the licenses, as CSV' },
  },
  run: async ({ out, api }, _args, { out: file, csv }) => {
    const client = await api(TIMEOUT_MS);
    const stream = await answer(client.GET('/api/export', { parseAs: 'stream' }));
    const part = file === undefined ? null : `${file}.part`;
    const target = part === null ? process.stdout : createWriteStream(part, { mode: 0o600 });
    const write = async (text: string) => {
      if (!target.write(`${text}\n`)) await once(target, 'drain');
    };
    if (csv) await write(CSV_COLUMNS.join(','));
    let counts: unknown = null;
    let lines = 0;
    try {
      for await (const value of readValues(stream)) {
        const line = value as Line;
        const text = csv ? toCsv(line) : JSON.stringify(line);
        if (text !== null) await write(text);
        if (line['type'] === 'end') ({ counts } = line);
        else if (++lines % PROGRESS_LINES === 0) out.progress(`${lines} lines…`);
      }
    } catch (cause) {
      if (!(cause instanceof CliError) && !(cause instanceof TypeError)) throw cause;
    }
    if (part !== null) await new Promise<void>((resolve) => target.end(resolve));
    if (counts === null) {
      if (part !== null) await rm(part, { force: true });
      throw new CliError('The export was cut off.', { code: 'cut_off', advice: 'Run the command again.' });
    }
    if (part !== null && file !== undefined) {
      await rename(part, file);
      out.fields({ file, counts }, { file, ...(counts as Record<string, number>) });
    }
    return 0;
  },
});
