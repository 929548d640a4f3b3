import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type ImportJob, type ImportSummary, runImport } from '../../data/import.ts';
import { plural } from '../../lib/format.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { FormError, LoadError } from '../../ui/notice.tsx';
import { Progress } from '../../ui/progress.tsx';
import { useStoppable, Working } from '../../ui/working.tsx';
import { Counts, FailedRows, TakenRows } from './results.tsx';

const changesOf = ({ counts }: ImportSummary) => counts.created + counts.updated;

/** So that several choices in a row are one check. */
const CHECK_DELAY_MS = 300;

/** Checks the file without importing it. */
const useCheck = (id: number, choices: unknown, job: ImportJob) => {
  const [progress, setProgress] = useState(0);
  const query = useQuery({
    queryKey: ['import', 'check', id, choices],
    queryFn: async ({ signal }) => {
      await new Promise((resolve) => setTimeout(resolve, CHECK_DELAY_MS));
      signal.throwIfAborted();
      return runImport(job, { isDryRun: true }, (summary) => setProgress(summary.progress), signal);
    },
    structuralSharing: false,
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });
  return { query, progress };
};

/** Imports the file. After a stop or an error, it goes on after the rows that are imported. */
const useImport = (job: ImportJob) => {
  const [summary, setSummary] = useState<ImportSummary>();
  const { work, ...stoppable } = useStoppable();
  const mutation = useMutation({
    mutationFn: () =>
      work((signal) => runImport(job, { isDryRun: false, before: summary }, setSummary, signal)),
    meta: { invalidates: ['licenses', 'products', 'dashboard'] },
    retry: false,
  });
  return { mutation, summary, start: () => mutation.mutate(), ...stoppable };
};

const Done = ({
  summary,
  job,
  onAnother,
}: {
  summary: ImportSummary;
  job: ImportJob;
  onAnother: () => void;
}) => (
  <Card aria-label="Import">
    <CardHeader
      title="Import finished"
      hint={`${plural(changesOf(summary), 'row')} imported.`}
      actions={
        <>
          <Button size="sm" onClick={onAnother}>
            Import another file
          </Button>
          <ButtonLink to="/licenses" size="sm">
            View licenses
          </ButtonLink>
        </>
      }
    />
    <Counts summary={summary} job={job} />
    <FailedRows summary={summary} job={job} />
  </Card>
);

const Running = ({
  title,
  progress,
  isWorking = false,
  onStop,
}: {
  title: string;
  progress: number;
  /** Whether leaving the page would stop it. */
  isWorking?: boolean;
  onStop?: () => void;
}) => (
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
    {isWorking && <Working />}
    <div className="px-5 pb-5">
      <Progress label="Progress" share={progress} />
    </div>
  </Card>
);

const Stopped = ({
  summary,
  error,
  job,
  onContinue,
  onAnother,
}: {
  summary: ImportSummary | undefined;
  /** Null if a person has stopped it. */
  error: unknown;
  job: ImportJob;
  onContinue: () => void;
  onAnother: () => void;
}) => (
  <Card aria-label="Import">
    <CardHeader
      title="Import stopped"
      hint={`${plural(summary?.rows ?? 0, 'row')} of ${plural(job.source.survey.rows, 'row')} done. Continue here, or import the same file again later: what is already there stays as it is.`}
      actions={
        <>
          <Button size="sm" onClick={onAnother}>
            Import another file
          </Button>
          <Button variant="solid" size="sm" onClick={onContinue}>
            Continue
          </Button>
        </>
      }
    />
    {error !== null && (
      <div className="px-5 pb-4">
        <FormError error={error} />
      </div>
    )}
    {summary && <Counts summary={summary} job={job} />}
    {summary && <FailedRows summary={summary} job={job} />}
  </Card>
);

/** Shows what an import of the file would do, then does it. */
export const Preview = ({
  id,
  choices,
  job,
  onStart,
  onAnother,
}: {
  id: number;
  choices: unknown;
  job: ImportJob;
  onStart: () => void;
  onAnother: () => void;
}) => {
  const check = useCheck(id, choices, job);
  const { mutation, summary: done, start, stop, isWorking, isStopped } = useImport(job);
  const summary = check.query.data;
  if (mutation.isSuccess) return <Done summary={mutation.data} job={job} onAnother={onAnother} />;
  if (mutation.isPending) {
    const progress = done?.progress ?? 0;
    return <Running title="Importing…" progress={progress} isWorking={isWorking} onStop={stop} />;
  }
  if (mutation.isError) {
    const error = isStopped ? null : mutation.error;
    return <Stopped summary={done} error={error} job={job} onContinue={start} onAnother={onAnother} />;
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
  const begin = () => {
    onStart();
    start();
  };
  return (
    <Card aria-label="Import">
      <CardHeader
        title="What would happen"
        hint={changes === 0 ? 'The import would change nothing.' : 'Nothing has changed yet.'}
        actions={
          <Button variant="solid" size="sm" disabled={changes === 0} onClick={begin}>
            Import {plural(changes, 'row')}
          </Button>
        }
      />
      <Counts summary={summary} job={job} />
      <FailedRows summary={summary} job={job} />
      <TakenRows summary={summary} />
    </Card>
  );
};
