import { existsSync } from 'node:fs';
import { appendFile, rm } from 'node:fs/promises';
import { extname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Fields, openCopies, openDryRun } from '../../../shared/rules/import-lines.ts';
import { MAX_PART_LENGTH, MAX_PART_LINES } from '../../../shared/rules/transfer-limits.ts';
import type { ApiClient } from '../../api/client.ts';
import type { components } from '../../api/schema.ts';
import { command, given } from '../command.ts';
import { answer } from '../connection.ts';
import { CliError } from '../failure.ts';
import { allPages } from '../pages.ts';
import { readValues } from '../transfer/lines.ts';
import { PRESETS, type Preset } from '../transfer/presets.ts';
import { openProductCodes, readProductMap } from '../transfer/products.ts';
import { openPosition, type Totals } from '../transfer/progress.ts';
import { isCsv, readHeader, readRecords, type ReadRecord } from '../transfer/records.ts';

type Result = Extract<components['schemas']['ImportResult'], { line: number }>;

const PART_TIMEOUT_MS = 300_000;
const ATTEMPTS = 5;
const MAX_SHOWN = 20;
const CONFLICTS = ['fail', 'skip', 'update'] as const;

interface Sent {
  record: ReadRecord;
  fields: Fields | null;
  json: string;
}

interface Query {
  on_conflict?: (typeof CONFLICTS)[number];
  dry_run?: 'true';
  allow_unknown_product?: 'true';
  events?: 'true';
  cursor?: string;
}

interface PartAnswer {
  results: Result[];
  /** Where the service has stopped, if the part is more than one request may do. */
  cursor: string | null;
}

/** Sends a part, and returns a result for each line that the service has taken. */
const sendPart = async (api: ApiClient, part: Sent[], query: Query): Promise<PartAnswer> => {
  const stream = await answer(
    api.POST('/api/v1/licenses/import', {
      params: { query },
      headers: { 'content-type': 'application/x-ndjson' },
      body: part.map(({ json }) => `${json}\n`).join(''),
      bodySerializer: (text: string) => text,
      parseAs: 'stream',
    }),
  );
  const results: Result[] = [];
  for await (const value of readValues(stream)) {
    const line = value as Result | { totals: object; next_cursor?: string | null };
    if (!('totals' in line)) results.push(line);
    else if (!line.next_cursor) return { results, cursor: null };
    // The last result tells of the first line that is still to come.
    else return { results: results.slice(0, -1), cursor: line.next_cursor };
  }
  throw new CliError('The answer was cut off.', { code: 'cut_off' });
};

/** A refused part has changed nothing, and any other part ends in the same state when it is sent again. */
const sendUntilAnswered = async (api: ApiClient, part: Sent[], query: Query): Promise<PartAnswer> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendPart(api, part, query);
    } catch (error) {
      const { status = null } = error instanceof CliError ? error : {};
      const isFinal = status !== null && status < 500 && status !== 429;
      if (isFinal || attempt === ATTEMPTS) throw error;
      await delay(500 * 2 ** attempt);
    }
  }
};

/** Sends a part until the service has taken all of its lines. */
async function* sendWhole(api: ApiClient, part: Sent[], query: Query): AsyncGenerator<Result> {
  let next = query;
  for (;;) {
    const { results, cursor } = await sendUntilAnswered(api, part, next);
    yield* results;
    if (cursor === null) return;
    next = { ...query, cursor };
  }
}

interface Part {
  lines: Sent[];
  /** The records up to and with this part, also those that the preset leaves out. */
  records: number;
  /** The size of these records. */
  readBytes: number;
}

async function* readParts(
  file: string,
  preset: Preset,
  isForeign: boolean,
  after: number,
): AsyncGenerator<Part> {
  const copyOf = openCopies();
  let lines: Sent[] = [];
  let bytes = 0;
  let readBytes = 0;
  let records = 0;
  for await (const record of readRecords(file, isForeign)) {
    const mapped = record.fields && preset(record.fields);
    // A record that can't be read is sent too, so that it is among the failed lines.
    const json =
      record.fields && mapped
        ? JSON.stringify({ ...mapped, copy: copyOf(mapped) ?? mapped['copy'] })
        : '"unreadable"';
    // The part holds what can't be sent, too, for the file of failed lines.
    const size = Buffer.byteLength(record.fields ? json : record.raw) + 1;
    if (lines.length === MAX_PART_LINES || (lines.length > 0 && bytes + size > MAX_PART_LENGTH)) {
      yield { lines, records, readBytes };
      [lines, bytes] = [[], 0];
    }
    records++;
    readBytes += Buffer.byteLength(record.raw) + 1;
    if (records <= after || (record.fields && !mapped)) continue;
    lines.push({ record, fields: record.fields && mapped, json });
    bytes += size;
  }
  if (lines.length > 0) yield { lines, records, readBytes: Infinity };
}

const failureOf = ({ error }: Result): string => {
  const details = error?.details?.map(({ path, message }) => `${path}: ${message}`).join(', ');
  return details || error?.message || 'failed';
};

const choose = <T extends string>(name: string, value: string, choices: readonly T[]): T => {
  const chosen = choices.find((choice) => choice === value);
  if (chosen) return chosen;
  throw new CliError(`--${name} must be one of ${choices.join(', ')}.`);
};

export const importLicenses = command({
  name: 'licenses import',
  args: ['FILE'],
  summary: 'Import licenses from a file',
  details: [
    'FILE is a CSV file (.csv), lines of JSON, or a JSON list (.json). It is sent in parts. After an interruption,',
    'the same command continues. Failed lines are written to FILE.failed with the file’s extension.',
    'Exits with 0 if no line failed, 1 if some did, and 2 if the import could not be finished.',
  ],
  options: {
    from: { value: 'SERVICE', help: `What exported the file: ${Object.keys(PRESETS).join(', ')}` },
    product: { value: 'CODE', help: 'The product of all licenses' },
    'map-product': {
      value: 'NAME=CODE',
      multiple: true,
      help: 'What the file names a product, and the product’s code. Can be repeated',
    },
    'allow-unknown-product': { help: 'Take products that don’t exist as mere labels' },
    'on-conflict': { value: 'ACTION', help: `What to do with existing licenses: ${CONFLICTS.join(', ')}` },
    'dry-run': { help: 'Change nothing, and show what would happen' },
    events: { help: 'Send license.created to webhooks' },
  },
  run: async ({ out, api }, [file = ''], options) => {
    const { from, product, 'on-conflict': action = 'fail', 'dry-run': isDryRun, events } = options;
    const allowsLabels = options['allow-unknown-product'] ?? false;
    const mapped = readProductMap(options['map-product']);
    const preset = from === undefined ? null : PRESETS[choose('from', from, Object.keys(PRESETS))];
    const toLine: Preset = (row) => {
      const line = preset ? preset(row) : row;
      const named = product ?? mapped.get(String(line?.['product']));
      return line && named !== undefined ? { ...line, product: named } : line;
    };
    const query = given({
      on_conflict: choose('on-conflict', action, CONFLICTS),
      dry_run: isDryRun ? ('true' as const) : undefined,
      allow_unknown_product: allowsLabels ? ('true' as const) : undefined,
      events: events ? ('true' as const) : undefined,
    });
    const client = await api(PART_TIMEOUT_MS);
    const position = await openPosition(file, { ...query, from, product, mapped: [...mapped] });
    const toCode = await openProductCodes(out, {
      file,
      isForeign: from !== undefined,
      toLine,
      allowsLabels,
      listProducts: async () => {
        const read = (page: object) => answer(client.GET('/api/v1/products', { params: { query: page } }));
        return (await allPages(out, Infinity, read)).data;
      },
    });
    const toCoded: Preset = (row) => {
      const line = toLine(row);
      const named = line?.['product'];
      return typeof named === 'string' ? { ...line, product: toCode(named) } : line;
    };
    const extension = extname(file);
    const failedFile = `${file.slice(0, file.length - extension.length)}.failed${extension === '.json' ? '.ndjson' : extension}`;
    const totals: Totals = { ...position.start.totals };
    const failures: { line: number; error: string }[] = [];
    const isPromised = openDryRun();
    if (position.start.records > 0) out.note(`Continues after ${position.start.records} records.`);
    else if (!isDryRun) await rm(failedFile, { force: true });

    for await (const { lines, records, readBytes } of readParts(
      file,
      toCoded,
      from !== undefined,
      position.start.records,
    )) {
      const failed: string[] = [];
      for await (const result of sendWhole(client, lines, query)) {
        const { record, fields } = lines[result.line - 1] ?? {};
        if (isDryRun && fields && isPromised(fields, result)) result.result = 'created';
        totals[result.result]++;
        if (result.result !== 'failed' || !record) continue;
        if (!record.isCut) failed.push(record.raw);
        const note = record.isCut ? ` It is too long for ${failedFile}: correct it in ${file}.` : '';
        const error = (record.problem ?? failureOf(result)) + note;
        if (failures.length < MAX_SHOWN) failures.push({ line: record.line, error });
      }
      if (!isDryRun) {
        if (failed.length > 0) {
          const header = isCsv(file) && !existsSync(failedFile) ? [await readHeader(file)] : [];
          await appendFile(failedFile, `${[...header, ...failed].join('\n')}\n`);
        }
        await position.save(records, totals);
      }
      out.bar(readBytes / position.size, `${records} records, ${totals.failed} failed`);
    }
    await position.remove();

    for (const { line, error } of failures) out.warn(`Line ${line}: ${error}`);
    if (totals.failed > failures.length) out.warn(`${totals.failed - failures.length} more lines failed.`);
    if (existsSync(failedFile) && !isDryRun) out.note(`The failed lines are in ${failedFile}.`);
    out.fields({ totals, failures }, totals);
    return totals.failed > 0 ? 1 : 0;
  },
});
