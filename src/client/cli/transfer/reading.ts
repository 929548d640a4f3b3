import {
  type ColumnMap,
  isAddedColumn,
  missingColumns,
  TARGETS,
} from '../../../shared/rules/import/columns.ts';
import { DATE_ORDERS } from '../../../shared/rules/import/dates.ts';
import { orderIn, type Reading, readingOf } from '../../../shared/rules/import/reading.ts';
import type { SourceId } from '../../../shared/rules/import/survey.ts';
import { VENDORS, type VendorId } from '../../../shared/rules/import/vendors.ts';
import { CliError } from '../failure.ts';
import type { Output } from '../output.ts';
import type { ImportFile } from './source.ts';

const SOURCES = [...(Object.keys(VENDORS) as VendorId[]), 'latchkey', 'columns'] as const;
/** Leaves a column out. */
const NOTHING = 'none';

export const choose = <T extends string>(name: string, value: string, choices: readonly T[]): T => {
  const chosen = choices.find((choice) => choice === value);
  if (chosen) return chosen;
  throw new CliError(`--${name} must be one of ${choices.join(', ')}.`);
};

const mapped = (columns: ColumnMap, pairs: Map<string, string>, { file, survey }: ImportFile): ColumnMap => {
  const changed = { ...columns };
  for (const [column, target] of pairs) {
    if (!survey.columns.includes(column)) throw new CliError(`${file} has no column ${column}.`);
    changed[column] = target === NOTHING ? null : choose('map', target, TARGETS);
  }
  return changed;
};

const describe = (out: Output, { survey }: ImportFile, { source, columns }: Reading) => {
  if (source === 'latchkey') return;
  if (source !== 'columns') return out.note(`Read as a file from ${VENDORS[source].name}.`);
  const used = survey.columns.filter((name) => columns[name]);
  const unused = survey.columns.filter((name) => !columns[name] && !isAddedColumn(name));
  out.note(`Read as: ${used.map((name) => `${name} → ${columns[name]}`).join(', ') || 'nothing'}.`);
  for (const text of missingColumns(columns)) out.warn(text);
  if (unused.length > 0)
    out.note(`Left out: ${unused.join(', ')}. Keep a column with --map="${unused[0]}=metadata".`);
};

interface Chosen {
  from?: string | undefined;
  dates?: string | undefined;
  columns: Map<string, string>;
}

/** Returns how to read a file: as it seems, and as the options say. */
export const chooseReading = (out: Output, source: ImportFile, { from, dates, columns }: Chosen): Reading => {
  const named: SourceId | undefined =
    from === undefined ? (columns.size > 0 ? 'columns' : undefined) : choose('from', from, SOURCES);
  const guessed = readingOf(source.survey, named);
  const reading = { ...guessed, columns: mapped(guessed.columns, columns, source) };
  const order = orderIn(source.survey, reading);
  if (order === 'unclear' && dates === undefined)
    throw new CliError(`${source.file} has dates such as 03/04/2027, which can be read in two ways.`, {
      advice: 'Say whether the day or the month comes first: --dates=dmy or --dates=mdy.',
    });
  const seen = order === 'unclear' ? null : order;
  describe(out, source, reading);
  return { ...reading, order: dates === undefined ? seen : choose('dates', dates, DATE_ORDERS) };
};
