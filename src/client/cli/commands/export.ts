import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { toCsvRecord } from '../../../shared/rules/csv.ts';
import { type ExportPart, readExport } from '../../../shared/rules/export-stream.ts';
import { CSV_COLUMNS, toCsvCells } from '../../../shared/rules/license-csv.ts';
import type { ApiClient } from '../../api/client.ts';
import { command, given } from '../command.ts';
import { answer } from '../connection.ts';
import { CliError } from '../failure.ts';
import { type Append, cutOff, writeWhole } from '../whole-file.ts';

const TIMEOUT_MS = 3_600_000;
const MAX_WAIT_MS = 5_000;

/** Returns the records of the licenses among the lines. */
const toCsv = (lines: string[]): string[] =>
  lines.flatMap((text) => {
    const line = JSON.parse(text) as Record<string, unknown>;
    return line['type'] === 'license' ? [toCsvRecord(toCsvCells(line))] : [];
  });

/** Waits after an error that may pass: of the network, of the service, or while another transfer runs. */
const wait = async (error: unknown, attempt: number) => {
  const { status = null } = error instanceof CliError ? error : {};
  const isFinal = status !== null && status < 500 && status !== 429;
  if (isFinal || !(error instanceof CliError || error instanceof TypeError)) throw error;
  await delay(Math.min(MAX_WAIT_MS, 500 * 2 ** attempt));
};

const partsOf = (client: ApiClient): AsyncGenerator<ExportPart> => {
  const open = (cursor: string | null) =>
    answer(
      client.GET('/api/export', {
        params: { query: given({ cursor: cursor ?? undefined }) },
        parseAs: 'stream',
      }),
    );
  return readExport(open, wait);
};

const toStdout: Append = async (text) => {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
};

export const exportLicenses = command({
  name: 'licenses export',
  args: [],
  summary: 'Export licenses and everything else in the account',
  details: [
    'Writes lines of JSON that licenses import accepts. Secrets are not among them.',
    'An answer that is cut off is continued. If that fails, FILE is not written, and the exit status is 2.',
  ],
  options: {
    out: { value: 'FILE', help: 'The file to write. By default, standard output' },
    csv: { help: 'Write only the licenses, as CSV' },
  },
  run: async ({ out, api }, _args, { out: file, csv }) => {
    const client = await api(TIMEOUT_MS);
    const copy = async (append: Append) => {
      if (csv) await append(`${CSV_COLUMNS.join(',')}\n`);
      let counts: ExportPart['counts'] = null;
      let lines = 0;
      try {
        for await (const read of partsOf(client)) {
          await append((csv ? toCsv(read.lines) : read.lines).map((line) => `${line}\n`).join(''));
          lines += read.lines.length;
          out.progress(`${lines} lines…`);
          ({ counts } = read);
        }
      } catch (cause) {
        throw cause instanceof CliError ? cause : cutOff('export', cause);
      }
      return counts;
    };
    if (file === undefined) {
      await copy(toStdout);
      return 0;
    }
    const counts = await writeWhole(file, copy);
    out.fields({ file, counts }, { file, ...counts });
    return 0;
  },
});
