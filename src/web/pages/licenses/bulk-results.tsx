import { ApiError, errorMessage } from '../../data/error.ts';
import { plural } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { DialogActions } from '../../ui/dialog.tsx';
import { licensesText } from './bulk-actions.ts';
import type { BulkJob, BulkResult } from './use-bulk.ts';

/** What was done, what failed, and buttons that take it back or try again, if that is possible. */
export const BulkResults = ({
  job,
  results,
  onSend,
  onClose,
}: {
  job: BulkJob;
  results: BulkResult[];
  onSend: (job: BulkJob) => void;
  onClose: () => void;
}) => {
  const failed = results.filter(({ error }) => error !== null);
  const changed = results.filter(({ error }) => error === null).map(({ license }) => license);
  const unsent = job.licenses.length - results.length;
  const { undo } = job;
  const transient = failed.filter(({ error }) => error instanceof ApiError && error.isTransient);
  return (
    <div className="grid gap-4">
      <p role="status">
        {plural(changed.length, 'license')} {job.done}.
        {failed.length > 0 && ` ${licensesText(failed.length)} failed.`}
        {unsent > 0 && ` Stopped before ${licensesText(unsent)}.`}
      </p>
      {failed.length > 0 && (
        <div
          role="region"
          aria-label="Failed licenses"
          tabIndex={0}
          className="max-h-64 overflow-y-auto rounded-lg border border-line text-sm"
        >
          <ul className="divide-y divide-line">
            {failed.map(({ license, error }) => (
              <li key={license.id} className="px-3 py-2">
                <code className="block text-xs break-all">{license.license_key}</code>
                <span className="text-bad">{errorMessage(error)}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
      <DialogActions>
        {undo && changed.length > 0 && (
          <Button onClick={() => onSend({ licenses: changed, send: undo.send, done: undo.done })}>
            Undo
          </Button>
        )}
        {job.isRepeatable && transient.length > 0 && (
          <Button onClick={() => onSend({ ...job, licenses: transient.map(({ license }) => license) })}>
            Try again
          </Button>
        )}
        <Button variant="solid" autoFocus onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </div>
  );
};
