import { useMutation, useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useState } from 'react';
import type { ImportFormat } from '../../../shared/rules/records.ts';
import { type ImportCounts, type ImportRequest, type ImportSummary, importFile } from '../../data/import.ts';
import { downloadText } from '../../lib/download.ts';
import { plural } from '../../lib/format.ts';
import { toFile } from '../../lib/import-parts.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Figure } from '../../ui/figure.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Progress } from '../../ui/progress.tsx';
import { Table, Td, Th, Tr } from '../../ui/table.tsx';

/** The rest is in the file. */
const MAX_SHOWN = 20;
const MAX_TEXT = 1_000;

const HEAD = (
  <>
    <Th>Line</Th>
    <Th>Problem</Th>
    <Th className="max-md:hidden">Content</Th>
  </>
);

/** The lines that fail, and a file with them that can be corrected and imported. */
const FailedLines = ({
  summary: { failed, counts, header },
  chosen: { file, format },
}: {
  summary: ImportSummary;
  chosen: ChosenFile;
}) => {
  if (failed.length === 0) return null;
  const whole = failed.filter(({ isCut }) => !isCut);
  const download = () => downloadText(`failed-${file.name}`, `text/${format}`, toFile(header, whole));
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2 border-t border-line px-5 py-3">
        <p className="text-sm text-muted">
          {counts.failed > MAX_SHOWN
            ? `The first ${MAX_SHOWN} of ${plural(counts.failed, 'failed line')}.`
            : `${plural(counts.failed, 'line')} can’t be imported.`}
        </p>
        {whole.length > 0 && (
          <Button size="sm" onClick={download}>
            <Download aria-hidden />
            {whole.length < counts.failed
              ? `Download ${plural(whole.length, 'failed line')}`
              : 'Download failed lines'}
          </Button>
        )}
      </div>
      <Table label="Failed lines" head={HEAD}>
        {failed.slice(0, MAX_SHOWN).map(({ line, text, reason }) => (
          <Tr key={line}>
            <Td className="nums w-16 align-top">{line}</Td>
            <Td className="align-top break-words">{reason}</Td>
            <Td className="max-w-0 align-top max-md:hidden">
              <code className="block truncate text-xs">{text.slice(0, MAX_TEXT)}</code>
            </Td>
          </Tr>
        ))}
      </Table>
    </>
  );
};

const Counts = ({ counts }: { counts: ImportCounts }) => (
  <dl className="grid grid-cols-2 gap-4 px-5 pb-5 sm:grid-cols-5">
    <Figure name="Created" value={counts.created} />
    <Figure name="Updated" value={counts.updated} />
    <Figure name="Unchanged" value={counts.unchanged} />
    <Figure name="Skipped" value={counts.skipped} />
    <Figure name="Failed" value={counts.failed} isBad={counts.failed > 0} />
  </dl>
);

export interface ChosenFile {
  id: number;
  file: File;
  format: ImportFormat;
}

const changesOf = ({ counts }: ImportSummary) => counts.created + counts.updated;

/** Checks the file without importing it. */
const useCheck = ({ id, file, format }: ChosenFile, onConflict: ImportRequest['onConflict']) => {
  const [progress, setProgress] = useState(0);
  const query = useQuery({
    queryKey: ['import', id, onConflict],
    queryFn: ({ signal }) =>
      importFile({ file, format, onConflict, isDryRun: true, hasEvents: false }, setProgress, signal),
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });
  return { query, progress };
};

const useImport = (request: Omit<ImportRequest, 'isDryRun'>) => {
  const [progress, setProgress] = useState(0);
  const [stop] = useState(() => new AbortController());
  const mutation = useMutation({
    mutationFn: () => importFile({ ...request, isDryRun: false }, setProgress, stop.signal),
    meta: { invalidates: ['licenses', 'products', 'dashboard'] },
    retry: false,
  });
  return { mutation, progress, stop };
};

const Done = ({ summary, chosen }: { summary: ImportSummary; chosen: ChosenFile }) => (
  <Card aria-label="Import">
    <CardHeader
      title="Import finished"
      hint={`${plural(changesOf(summary), 'line')} imported.`}
      actions={
        <ButtonLink to="/licenses" size="sm">
          View licenses
        </ButtonLink>
      }
    />
    <Counts counts={summary.counts} />
    <FailedLines summary={summary} chosen={chosen} />
  </Card>
);

const Running = ({ title, progress, onStop }: { title: string; progress: number; onStop?: () => void }) => (
  <Card aria-label="Import">
    <CardHeader
      title={title}
      actions={
        onStop && (
          <Button size="sm" onClick={onStop}>
            Stop
          </Button>
        )
      }
    />
    <div className="px-5 pb-5">
      <Progress label="Progress" share={progress} />
    </div>
  </Card>
);

/** Shows what an import of the file would do, then does it. */
export const Preview = ({
  chosen,
  onConflict,
  hasEvents,
}: {
  chosen: ChosenFile;
  onConflict: ImportRequest['onConflict'];
  hasEvents: boolean;
}) => {
  const check = useCheck(chosen, onConflict);
  const { mutation, progress, stop } = useImport({ ...chosen, onConflict, hasEvents });
  const summary = check.query.data;
  if (mutation.isSuccess) return <Done summary={mutation.data} chosen={chosen} />;
  if (mutation.isPending)
    return <Running title="Importing…" progress={progress} onStop={() => stop.abort()} />;
  if (mutation.isError) {
    return (
      <Card aria-label="Import">
        <p className="px-5 pt-5 text-muted">
          A part of the file is imported. Import the file again to continue: what is there already stays as it
          is.
        </p>
        <LoadError error={mutation.error} onRetry={() => location.reload()} />
      </Card>
    );
  }
  if (check.query.isError) {
    return (
      <Card aria-label="Import">
        <LoadError error={check.query.error} onRetry={() => void check.query.refetch()} />
      </Card>
    );
  }
  if (!summary) return <Running title="Checking the file…" progress={check.progress} />;
  const changes = changesOf(summary);
  return (
    <Card aria-label="Import">
      <CardHeader
        title="What would happen"
        hint={changes === 0 ? 'The import would change nothing.' : 'Nothing has changed yet.'}
        actions={
          <Button variant="solid" size="sm" disabled={changes === 0} onClick={() => mutation.mutate()}>
            Import {plural(changes, 'line')}
          </Button>
        }
      />
      <Counts counts={summary.counts} />
      <FailedLines summary={summary} chosen={chosen} />
    </Card>
  );
};
