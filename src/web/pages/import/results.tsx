import { Download } from 'lucide-react';
import type { Fields } from '../../../shared/rules/import-lines.ts';
import { failedName, openFailedFile, sayRepeated } from '../../../shared/rules/import/failed-file.ts';
import type { RowResult } from '../../../shared/rules/import/run.ts';
import type { ImportJob, ImportSummary } from '../../data/import.ts';
import { downloadText } from '../../lib/download.ts';
import { plural } from '../../lib/format.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Figure } from '../../ui/figure.tsx';
import { Table, Td, Th, Tr } from '../../ui/table.tsx';

/** The rest is in the file. */
const MAX_SHOWN = 20;
const MAX_TEXT = 1_000;

const FAILED_HEAD = (
  <>
    <Th>Line</Th>
    <Th>Problem</Th>
    <Th className="w-2/5 max-md:hidden">Content</Th>
  </>
);

const problemOf = ({ row: { isCut }, reason }: RowResult) =>
  isCut ? `${reason} It can’t be downloaded, so correct it in the file.` : reason;

/** The rows that fail, and a file with them and their reasons that can be corrected and imported. */
export const FailedRows = ({
  summary: { failed, counts },
  job: { source, reading },
}: {
  summary: ImportSummary;
  job: ImportJob;
}) => {
  if (failed.length === 0) return null;
  const whole = failed.filter(({ row }) => !row.isCut);
  const download = () => {
    const { file, shape, survey } = source;
    const { header, toRow } = openFailedFile(shape, survey.columns, reading);
    const rows = whole.map((result) => toRow(result) ?? '');
    const type = shape.kind === 'table' ? 'text/csv' : 'application/x-ndjson';
    downloadText(failedName(file.name, shape), type, header + rows.join(''));
  };
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2 border-t border-line px-5 py-3">
        <p className="text-sm text-muted">
          {counts.failed > MAX_SHOWN
            ? `The first ${MAX_SHOWN} of ${plural(counts.failed, 'row')} that can’t be imported.`
            : `${plural(counts.failed, 'row')} can’t be imported. Correct them in a separate file, and import it.`}
        </p>
        {whole.length > 0 && (
          <Button size="sm" onClick={download}>
            <Download aria-hidden />
            {whole.length < counts.failed
              ? `Download ${plural(whole.length, 'failed row')}`
              : 'Download failed rows'}
          </Button>
        )}
      </div>
      <Table label="Failed rows" head={FAILED_HEAD}>
        {failed.slice(0, MAX_SHOWN).map((result) => (
          <Tr key={result.row.line}>
            <Td className="nums w-16 align-top">{result.row.line}</Td>
            <Td className="align-top break-words">{problemOf(result)}</Td>
            <Td className="max-w-0 align-top max-md:hidden">
              <code className="block truncate text-xs">{result.row.text.slice(0, MAX_TEXT)}</code>
            </Td>
          </Tr>
        ))}
      </Table>
    </>
  );
};

const TONES: Record<RowResult['result'], Tone> = {
  created: 'good',
  updated: 'brass',
  unchanged: 'plain',
  skipped: 'plain',
  failed: 'bad',
  'left out': 'plain',
};

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? `${value}` : '';

const seatsOf = ({ terms }: Fields): string => {
  const seats = (terms as { max_activations?: unknown } | undefined)?.max_activations;
  return seats === undefined ? '' : `${textOf(seats)} seats`;
};

/** What a row becomes, in a few words. */
const detailsOf = (line: Fields): string =>
  [
    textOf(line['customer_email']),
    textOf(line['customer_name']),
    textOf(line['product']),
    textOf(line['status']),
    line['expires_at'] === null ? 'never expires' : textOf(line['expires_at']),
    seatsOf(line),
  ]
    .filter((text) => text !== '')
    .join(' · ');

const nameOf = (line: Fields): string =>
  textOf(line['license_key']) || textOf(line['code']) || (line['type'] ? textOf(line['type']) : 'A new key');

const TAKEN_HEAD = (
  <>
    <Th>Line</Th>
    <Th>Result</Th>
    <Th>License</Th>
  </>
);

/** What becomes of the first rows that don't fail. */
export const TakenRows = ({ summary: { taken, counts } }: { summary: ImportSummary }) => {
  if (taken.length === 0) return null;
  return (
    <>
      <p className="border-t border-line px-5 py-3 text-sm text-muted">
        {counts.created + counts.updated + counts.unchanged + counts.skipped > taken.length
          ? `The first ${plural(taken.length, 'row')} that can be imported.`
          : `${plural(taken.length, 'row')} that can be imported.`}
      </p>
      <Table label="First rows" head={TAKEN_HEAD}>
        {taken.map(({ row, result, line }) => (
          <Tr key={row.line}>
            <Td className="nums w-16 align-top">{row.line}</Td>
            <Td className="w-28 align-top">
              <Badge tone={TONES[result]}>{result}</Badge>
            </Td>
            <Td className="align-top break-words">
              <span className="font-mono">{line && nameOf(line)}</span>
              <span className="block text-muted">{line && detailsOf(line)}</span>
            </Td>
          </Tr>
        ))}
      </Table>
    </>
  );
};

export const Counts = ({
  summary: { counts, leftOut, repeated },
  job,
}: {
  summary: ImportSummary;
  job: ImportJob;
}) => (
  <div className="grid gap-2 px-5 pb-5">
    <dl className="grid grid-cols-2 gap-4 sm:grid-cols-5">
      <Figure name="Created" value={counts.created} />
      <Figure name="Updated" value={counts.updated} />
      <Figure name="Unchanged" value={counts.unchanged} />
      <Figure name="Skipped" value={counts.skipped} />
      <Figure name="Failed" value={counts.failed} isBad={counts.failed > 0} />
    </dl>
    {[...leftOut].map(([reason, rows]) => (
      <p key={reason} className="text-sm text-muted">
        {plural(rows, 'row')} left out, because {reason}.
      </p>
    ))}
    {repeated > 0 && <p className="text-sm text-warn">{sayRepeated(repeated, job.reading)}</p>}
  </div>
);
