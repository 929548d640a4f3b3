import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { toCsvRecord } from '../../../shared/rules/csv.ts';
import { type ExportPart, readExport } from '../../../shared/rules/export-stream.ts';
import { CSV_COLUMNS, toCsvCells } from '../../../shared/rules/license-csv.ts';
import type { ApiClient } from '../../api/client.ts';
import { command, given } from '../command.ts';
import { answer } from '../connection.ts';
import { CliError } from '../failure.ts';

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

export const exportLicenses = command({
  name: 'licenses export',
  args: [],
  summary: 'Export licenses and everything else of the account',
  details: [
    'Writes lines of JSON that licenses import takes. Secrets are not among them.',
    'An answer that is cut off is continued. If that fails, FILE is not written, and the exit status is 2.',
  ],
  options: {
    out: { value: 'FILE', help: 'The file to write. By default, standard output' },
    csv: { help: 'Write only the licenses, as CSV' },
  },
  run: async ({ out, api }, _args, { out: file, csv }) => {
    const client = await api(TIMEOUT_MS);
    const part = file === undefined ? null : `${file}.part`;
    const target = part === null ? process.stdout : createWriteStream(part, { mode: 0o600 });
    const write = async (texts: string[]) => {
      for (const text of texts) if (!target.write(`${text}\n`)) await once(target, 'drain');
    };
    const finish = async () => {
      if (part !== null) await new Promise<void>((resolve) => target.end(resolve));
    };
    if (csv) await write([CSV_COLUMNS.join(',')]);
    let counts: ExportPart['counts'] = null;
    let lines = 0;
    try {
      for await (const read of partsOf(client)) {
        await write(csv ? toCsv(read.lines) : read.lines);
        lines += read.lines.length;
        out.progress(`${lines} lines…`);
        ({ counts } = read);
      }
    } catch (cause) {
      await finish();
      if (part !== null) await rm(part, { force: true });
      if (cause instanceof CliError) throw cause;
      throw new CliError('The export was cut off.', {
        code: 'cut_off',
        advice: 'Run the command again.',
        cause,
      });
    }
    await finish();
    if (part !== null && file !== undefined) {
      await rename(part, file);
      out.fields({ file, counts }, { file, ...counts });
    }
    return 0;
  },
});
