import { useState } from 'react';
import { errorMessage } from '../../data/error.ts';
import type { LicenseBody } from '../../data/queries.ts';
import { formatCount, plural } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { Progress } from '../../ui/progress.tsx';
import { ACTION_TEXTS, type BulkAction, isApplicable, licensesText, type NewExpiry } from './bulk-actions.ts';
import { ExpiryField, type ExpiryKind, readExpiry } from './expiry-field.tsx';
import { type BulkResult, useBulk } from './use-bulk.ts';

const EXPIRIES: { kind: ExpiryKind; label: string }[] = [
  { kind: 'days', label: 'Add days' },
  { kind: 'date', label: 'Set a date' },
];

const Confirmation = ({
  action,
  count,
  skipped,
  isBusy,
  onSend,
  onClose,
}: {
  action: BulkAction;
  count: number;
  skipped: number;
  isBusy: boolean;
  onSend: (expiry: NewExpiry | null) => void;
  onClose: () => void;
}) => {
  const text = ACTION_TEXTS[action];
  return (
    <Form
      write={{ isPending: isBusy, error: null }}
      onSend={(values) => onSend(action === 'extend' ? readExpiry(values) : null)}
    >
      <div className="grid gap-2 text-muted">
        {text.consequence && count > 0 && <p>{text.consequence}</p>}
        {skipped > 0 && (
          <p>
            {skipped === 1 ? '1 license stays as it is: ' : `${skipped} licenses stay as they are: `}
            {text.skipped}.
          </p>
        )}
      </div>
      {action === 'extend' && count > 0 && (
        <ExpiryField
          label="New expiry"
          choices={EXPIRIES}
          chosen="days"
          neverHint=""
          daysHint={() => 'From each license’s last day, or from today if it has passed.'}
        />
      )}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          variant={action === 'revoke' ? 'danger' : 'solid'}
          disabled={count === 0}
        >{`${text.verb} ${licensesText(count)}`}</Button>
      </DialogActions>
    </Form>
  );
};

const Results = ({
  action,
  count,
  results,
  onClose,
}: {
  action: BulkAction;
  count: number;
  results: BulkResult[];
  onClose: () => void;
}) => {
  const failed = results.filter(({ error }) => error !== null);
  const unsent = count - results.length;
  return (
    <div className="grid gap-4">
      <p role="status">
        {plural(results.length - failed.length, 'license')} {ACTION_TEXTS[action].done}.
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
        <Button variant="solid" autoFocus onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </div>
  );
};

const Body = ({
  action,
  licenses,
  onClose,
}: {
  action: BulkAction;
  licenses: LicenseBody[];
  onClose: () => void;
}) => {
  // The list behind the dialog changes while the action runs.
  const [selected] = useState(licenses);
  const applicable = selected.filter((license) => isApplicable(action, license));
  const { mutation, results, stop } = useBulk(action, applicable);
  if (mutation.isIdle) {
    return (
      <Confirmation
        action={action}
        count={applicable.length}
        skipped={selected.length - applicable.length}
        isBusy={mutation.isPending}
        onSend={(expiry) => mutation.mutate(expiry)}
        onClose={onClose}
      />
    );
  }
  if (mutation.isSuccess)
    return <Results action={action} count={applicable.length} results={results} onClose={onClose} />;
  return (
    <div className="grid gap-4">
      <Progress
        label="Licenses"
        share={results.length / applicable.length}
        text={`${formatCount(results.length)} of ${formatCount(applicable.length)}`}
      />
      <DialogActions>
        <Button autoFocus onClick={stop}>
          Stop
        </Button>
      </DialogActions>
    </div>
  );
};

/** Confirms an action on the selected licenses, applies it, and shows its results. */
export const BulkDialog = ({
  action,
  isOpen,
  licenses,
  onClose,
  onClosed,
}: {
  action: BulkAction;
  isOpen: boolean;
  licenses: LicenseBody[];
  onClose: () => void;
  onClosed: () => void;
}) => (
  <Dialog
    isOpen={isOpen}
    onClose={onClose}
    onClosed={onClosed}
    title={`${ACTION_TEXTS[action].verb} licenses`}
    focusAfter={() => document.querySelector<HTMLElement>('#select-all')}
  >
    <Body action={action} licenses={licenses} onClose={onClose} />
  </Dialog>
);
