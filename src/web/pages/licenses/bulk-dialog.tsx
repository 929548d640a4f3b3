import { useState } from 'react';
import type { LicenseBody } from '../../data/queries.ts';
import { formatCount } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { Progress } from '../../ui/progress.tsx';
import { Working } from '../../ui/working.tsx';
import {
  ACTION_TEXTS,
  type BulkAction,
  isApplicable,
  licensesText,
  type NewValue,
  sendAction,
  UNDO,
} from './bulk-actions.ts';
import { BulkResults } from './bulk-results.tsx';
import { ExpiryField, type ExpiryKind, readExpiry } from './expiry-field.tsx';
import { ProductField } from './product-field.tsx';
import { ReasonField } from './reason-field.tsx';
import { type BulkJob, useBulk } from './use-bulk.ts';

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
  onSend: (value: NewValue) => void;
  onClose: () => void;
}) => {
  const text = ACTION_TEXTS[action];
  const [product, setProduct] = useState('');
  const hasReason = action !== 'extend' && action !== 'product';
  const valueOf = (values: Record<string, string>): NewValue => {
    if (action === 'product') return { product: product || null };
    return action === 'extend'
      ? { expiry: readExpiry(values), extension: crypto.randomUUID() }
      : { reason: values['reason'] ?? '' };
  };
  return (
    <Form write={{ isPending: isBusy, error: null }} onSend={(values) => onSend(valueOf(values))}>
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
      {hasReason && count > 0 && <ReasonField />}
      {action === 'product' && <ProductField value={product} onChoose={setProduct} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant={action === 'revoke' ? 'danger' : 'solid'} disabled={count === 0}>
          {action === 'product' && product === ''
            ? `Remove product from ${licensesText(count)}`
            : text.confirm(licensesText(count))}
        </Button>
      </DialogActions>
    </Form>
  );
};

const Body = ({
  action,
  licenses,
  onSent,
  onClose,
}: {
  action: BulkAction;
  licenses: LicenseBody[];
  onSent: () => void;
  onClose: () => void;
}) => {
  // The list behind the dialog changes while the action runs.
  const [selected] = useState(licenses);
  const applicable = selected.filter((license) => isApplicable(action, license));
  const { mutation, results, isWorking, stop } = useBulk();
  const send = (job: BulkJob) => {
    onSent();
    mutation.mutate(job);
  };
  const job = mutation.variables;
  if (job === undefined) {
    return (
      <Confirmation
        action={action}
        count={applicable.length}
        skipped={selected.length - applicable.length}
        isBusy={mutation.isPending}
        onSend={(value) =>
          send({
            licenses: applicable,
            send: (license) => sendAction(action, license, value),
            done: ACTION_TEXTS[action].done,
            undo: UNDO[action],
            isRepeatable: action === 'extend',
          })
        }
        onClose={onClose}
      />
    );
  }
  if (mutation.isSuccess) return <BulkResults job={job} results={results} onSend={send} onClose={onClose} />;
  return (
    <div className="grid gap-4">
      {isWorking && <Working />}
      <Progress
        label="Licenses"
        share={results.length / job.licenses.length}
        text={`${formatCount(results.length)} of ${formatCount(job.licenses.length)}`}
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
  onClosed,
  ...body
}: {
  action: BulkAction;
  isOpen: boolean;
  licenses: LicenseBody[];
  onSent: () => void;
  onClose: () => void;
  onClosed: () => void;
}) => (
  <Dialog
    isOpen={isOpen}
    onClose={body.onClose}
    onClosed={onClosed}
    title={ACTION_TEXTS[action].confirm('licenses')}
    focusAfter={() => document.querySelector<HTMLElement>('#select-all')}
  >
    <Body action={action} {...body} />
  </Dialog>
);
