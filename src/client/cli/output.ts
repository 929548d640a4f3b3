import picocolors from 'picocolors';
import { CliError } from './failure.ts';
import { type Cell, clean, renderFields, renderTable, renderTabs } from './table.ts';

type Columns<T> = Record<string, (item: T) => Cell>;

const colorsFor = (stream: NodeJS.WriteStream) => {
  const isPlain = !stream.isTTY || Boolean(process.env['NO_COLOR']) || process.env['TERM'] === 'dumb';
  return picocolors.createColors(!isPlain);
};

const BAR_WIDTH = 24;

/** Results go to standard output, everything else to standard error. */
export const createOutput = (isJson: boolean) => {
  const { stdout, stderr } = process;
  const colors = colorsFor(stdout);
  const secrets = new Set<string>();
  let hasProgress = false;

  const redact = (text: string) =>
    [...secrets].reduce((hidden, secret) => hidden.replaceAll(secret, '(API key)'), text);

  const clearProgress = () => {
    if (hasProgress) stderr.write('\r\u001B[2K');
    hasProgress = false;
  };
  const write = (text: string) => {
    clearProgress();
    if (text !== '') stdout.write(`${redact(text)}\n`);
  };
  const writeError = (text: string) => {
    clearProgress();
    stderr.write(`${redact(text)}\n`);
  };

  return {
    isJson,
    colors,

    /** Never prints this text. */
    hide: (secret: string) => {
      if (secret !== '') secrets.add(secret);
    },

    json: (value: unknown) => write(JSON.stringify(value, null, 2)),
    /** A JSON value in one line, for streams. */
    jsonLine: (value: unknown) => write(JSON.stringify(value)),
    text: write,

    /** Prints `value` as JSON, or `items` as a table. */
    table: <T>(value: unknown, items: T[], columns: Columns<T>) => {
      if (isJson) return write(JSON.stringify(value, null, 2));
      const rows = items.map((item) => Object.values(columns).map((cell) => cell(item)));
      if (!stdout.isTTY) return write(renderTabs(rows));
      write(rows.length === 0 ? 'None.' : renderTable(Object.keys(columns), rows, colors));
    },

    /** Prints `value` as JSON, or its fields. */
    fields: (value: unknown, fields: Record<string, Cell>) =>
      write(isJson ? JSON.stringify(value, null, 2) : renderFields(fields, colors)),

    note: (text: string) => {
      if (!isJson) writeError(text);
    },

    warn: (text: string) => writeError(`${colorsFor(stderr).yellow('Warning:')} ${clean(text)}`),

    /** Replaces the last progress. Only a terminal shows it. */
    progress: (text: string) => {
      if (isJson || !stderr.isTTY) return;
      stderr.write(`\r\u001B[2K${text}`);
      hasProgress = true;
    },

    /** Replaces the last progress by a bar. Without a terminal, each step is a line. */
    bar: (share: number, text: string) => {
      if (isJson) return;
      const percent = Math.min(100, Math.floor(share * 100));
      if (!stderr.isTTY) return writeError(`${percent} %: ${text}`);
      const filled = Math.round((percent * BAR_WIDTH) / 100);
      const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
      stderr.write(`\r\u001B[2K${bar} ${percent} %  ${text}`);
      hasProgress = true;
    },

    error: (error: unknown) => {
      const { message, code, requestId, details, advice } =
        error instanceof CliError
          ? error
          : new CliError(error instanceof Error ? error.message : String(error));
      if (isJson) {
        const body = { code, message, request_id: requestId, ...(details.length > 0 && { details }) };
        return writeError(JSON.stringify({ error: body }));
      }
      writeError(
        [
          `${colorsFor(stderr).red('Error:')} ${clean(message)}`,
          ...details.map(({ path, message }) => `  ${clean(`${path}: ${message}`)}`),
          ...(advice === null ? [] : [advice]),
          ...(requestId === null ? [] : [`Request id: ${clean(requestId)}`]),
        ].join('\n'),
      );
    },
  };
};

export type Output = ReturnType<typeof createOutput>;
