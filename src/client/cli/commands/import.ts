import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isLicense } from '../../../shared/rules/import-lines.ts';
import { ENCODINGS } from '../../../shared/rules/import/encodings.ts';
import {
  failedName,
  isRepeated,
  openFailedFile,
  sayRepeated,
} from '../../../shared/rules/import/failed-file.ts';
import { outcomeOf } from '../../../shared/rules/import/reading.ts';
import type { SourceRow } from '../../../shared/rules/import/rows.ts';
import { importRows } from '../../../shared/rules/import/run.ts';
import { VENDORS } from '../../../shared/rules/import/vendors.ts';
import { command, given } from '../command.ts';
import { answer } from '../connection.ts';
import { allPages } from '../pages.ts';
import { failedRows } from '../transfer/failed-rows.ts';
import { openProductCodes, readPairs } from '../transfer/products.ts';
import { openPosition, type Totals } from '../transfer/progress.ts';
import { choose, chooseReading } from '../transfer/reading.ts';
import { openSend } from '../transfer/send.ts';
import { openSource } from '../transfer/source.ts';

const PART_TIMEOUT_MS = 300_000;
const MAX_SHOWN = 20;
const CONFLICTS = ['fail', 'skip', 'update'] as const;
const ENCODING_NAMES = [
  'utf-8',
  'utf-16le',
  ...(Object.keys(ENCODINGS) as (keyof typeof ENCODINGS)[]),
] as const;

export const importLicenses = command({
  name: 'licenses import',
  args: ['FILE'],
  summary: 'Import licenses from a file',
  details: [
    'FILE is a table (CSV with commas, semicolons, or tabs), lines of JSON, or a JSON list. Files from these services are',
    `recognized: ${Object.keys(VENDORS).join(', ')}. The columns of other`,
    'tables are guessed: --dry-run shows what would happen. The file is sent in parts. After an interruption, the same',
    'command continues. Failed rows are written to FILE.failed.csv or FILE.failed.ndjson, with the reason of each, and can',
    'be corrected and imported.',
    'Exits with 0 if no row failed, 1 if some did, and 2 if the import could not be finished.',
  ],
  options: {
    from: {
      value: 'SERVICE',
      help: 'Where the file is from: one of these services, latchkey, or columns for another table',
    },
    map: {
      value: 'COLUMN=FIELD',
      multiple: true,
      help: 'What a column is, such as "Ends=expires_at", metadata, or none. Can be repeated',
    },
    dates: { value: 'ORDER', help: 'What 03/04/2027 means: dmy for April 3, mdy for March 4' },
    encoding: { value: 'NAME', help: `If the file isn’t UTF-8: ${ENCODING_NAMES.slice(1).join(', ')}` },
    product: { value: 'CODE', help: 'The product of all licenses' },
    'map-product': {
      value: 'NAME=CODE',
      multiple: true,
      help: 'What the file calls a product, and the product’s code. Can be repeated',
    },
    'allow-unknown-product': { help: 'Accept products that don’t exist as mere labels' },
    'on-conflict': { value: 'ACTION', help: `What to do with existing licenses: ${CONFLICTS.join(', ')}` },
    'dry-run': { help: 'Change nothing, and show what would happen' },
    events: { help: 'Send license.created to webhooks' },
  },
  run: async ({ out, api, requireUrl }, [file = ''], options) => {
    const { from, dates, encoding, product, 'on-conflict': action = 'fail' } = options;
    const isDryRun = options['dry-run'] ?? false;
    const allowsLabels = options['allow-unknown-product'] ?? false;
    const named = readPairs('map-product', options['map-product']);
    const query = given({
      on_conflict: choose('on-conflict', action, CONFLICTS),
      dry_run: isDryRun ? ('true' as const) : undefined,
      allow_unknown_product: allowsLabels ? ('true' as const) : undefined,
      events: options.events ? ('true' as const) : undefined,
    });
    const client = await api(PART_TIMEOUT_MS);
    const choices = { from, dates, encoding, product, columns: options.map, mapped: [...named] };
    // The account and not its key, which may have been rotated before the import continues.
    const { id: account } = await answer(client.GET('/api/account'));
    const target = { service: await requireUrl(), account };
    const position = await openPosition(file, target, { ...query, ...choices });
    const source = await openSource(
      file,
      encoding === undefined ? undefined : choose('encoding', encoding, ENCODING_NAMES),
    );
    const reading = chooseReading(out, source, { from, dates, columns: readPairs('map', options.map) });

    const toOutcome = (row: SourceRow) => {
      const outcome = outcomeOf(row, reading);
      if (!('line' in outcome) || !isLicense(outcome.line)) return outcome;
      const code = product ?? named.get(String(outcome.line['product']));
      return code === undefined ? outcome : { line: { ...outcome.line, product: code } };
    };
    const toCoded = await openProductCodes(out, {
      rows: source.rows(),
      outcomeOf: toOutcome,
      isForeign: reading.source !== 'latchkey',
      allowsLabels,
      listProducts: async () => {
        const read = (page: object) => answer(client.GET('/api/v1/products', { params: { query: page } }));
        return (await allPages(out, Infinity, read)).data;
      },
    });

    const failedFile = join(dirname(file), failedName(basename(file), source.shape));
    const kept = failedRows(failedFile, openFailedFile(source.shape, source.survey.columns, reading));
    const { records, failedBytes } = position.start;
    const totals: Totals = { ...position.start.totals };
    const failures: { line: number; error: string }[] = [];
    const leftOut = new Map<string, number>();
    let repeated = 0;
    if (records > 0) out.note(`Continues after ${records} records.`);
    if (!isDryRun) {
      // A folder that can't be written is noticed before anything is imported.
      await position.save({ records, totals, failedBytes: failedBytes ?? (await kept.length()) });
      if (failedBytes !== undefined) await kept.cut(failedBytes);
    }

    const progress = importRows(
      source.rows(),
      (row) => {
        const outcome = toOutcome(row);
        return 'line' in outcome ? { line: toCoded(outcome.line) } : outcome;
      },
      openSend(client, query),
      { isDryRun, after: records },
    );
    for await (const { results, rows, length } of progress) {
      repeated += results.filter(isRepeated).length;
      for (const { row, result, reason } of results) {
        if (result === 'left out') leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
        else totals[result]++;
        if (result !== 'failed' || failures.length === MAX_SHOWN) continue;
        const note = row.isCut ? ` It is too long for ${failedFile}: correct it in ${file}.` : '';
        failures.push({ line: row.line, error: reason + note });
      }
      if (!isDryRun) {
        const failed = results.filter(({ result }) => result === 'failed');
        await position.save({ records: rows, totals, failedBytes: await kept.add(failed) });
      }
      out.bar(length / position.size, `${rows} records, ${totals.failed} failed`);
    }
    // A dry run may be made while the import itself is to continue.
    if (!isDryRun) await position.remove();

    for (const [reason, rows] of leftOut) out.note(`${rows} left out, because ${reason}.`);
    if (repeated > 0) out.warn(sayRepeated(repeated, reading));
    for (const { line, error } of failures) out.warn(`Line ${line}: ${error}`);
    if (totals.failed > failures.length) out.warn(`${totals.failed - failures.length} more lines failed.`);
    if (existsSync(failedFile) && !isDryRun) out.note(`The failed lines are in ${failedFile}.`);
    out.fields({ totals, failures }, totals);
    return totals.failed > 0 ? 1 : 0;
  },
});
