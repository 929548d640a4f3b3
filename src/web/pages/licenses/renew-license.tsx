import { useMutation } from '@tanstack/react-query';
import { renewLicense } from '../../data/mutations.ts';
import type { License } from '../../data/queries.ts';
import { formatDate } from '../../lib/format.ts';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { useNow } from '../../ui/time.tsx';
import { tell } from '../../ui/toast.tsx';
import { addDays, dayOf } from './dates.ts';
import { ExpiryField, type ExpiryKind, readExpiry } from './expiry-field.tsx';

const CHOICES: { kind: ExpiryKind; label: string }[] = [
  { kind: 'days', label: 'Add days' },
  { kind: 'date', label: 'Set a date' },
  { kind: 'never', label: 'Never expires' },
];

/** As the service counts: from the last day if that is still to come, else from today. */
const daysHintFor =
  ({ expires_at }: License) =>
  (days: number, today: string) =>
    expires_at !== null && expires_at > today
      ? `From ${formatDate(expires_at)} to ${formatDate(addDays(expires_at, days))}.`
      : `From today to ${formatDate(addDays(today, days))}.`;

const RenewForm = ({ license, onClose }: { license: License; onClose: () => void }) => {
  const renew = useMutation({
    ...renewLicense(license.id),
    onSuccess: ({ expires_at }) =>
      tell(
        expires_at === null
          ? 'License never expires now'
          : `License renewed through ${formatDate(expires_at)}`,
      ),
  });
  return (
    <Form write={renew} onSend={(values) => renew.mutate(readExpiry(values), { onSuccess: onClose })}>
      <ExpiryField
        label="New expiry"
        choices={CHOICES}
        chosen="days"
        neverHint="It has no last day any more."
        daysHint={daysHintFor(license)}
      />
      <FormActions onCancel={onClose} isBusy={renew.isPending}>
        Renew license
      </FormActions>
    </Form>
  );
};

const Until = ({ license: { expires_at } }: { license: License }) => {
  const today = dayOf(useNow());
  if (expires_at === null) return 'It has no last day.';
  return `Its last day ${expires_at < today ? 'was' : 'is'} ${formatDate(expires_at)}.`;
};

export const RenewLicense = ({
  license,
  isOpen,
  onClose,
}: {
  license: License;
  isOpen: boolean;
  onClose: () => void;
}) => (
  <Dialog isOpen={isOpen} onClose={onClose} title="Renew license" hint={<Until license={license} />}>
    <RenewForm license={license} onClose={onClose} />
  </Dialog>
);
