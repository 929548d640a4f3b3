import { addDays, isoDate } from '../../../shared/rules/dates.ts';
import { renewLicense } from '../../data/license-mutations.ts';
import type { LicenseBody } from '../../data/queries.ts';
import { formatDate } from '../../lib/format.ts';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { Drafted, useDraft } from '../../ui/draft.tsx';
import { Form } from '../../ui/form.tsx';
import { useNow } from '../../ui/time.tsx';
import { showToast } from '../../ui/toast.tsx';
import { useOnce } from '../../ui/use-once.ts';
import { ExpiryField, type ExpiryKind, readExpiry } from './expiry-field.tsx';

const CHOICES: { kind: ExpiryKind; label: string }[] = [
  { kind: 'days', label: 'Add days' },
  { kind: 'date', label: 'Set a date' },
  { kind: 'never', label: 'Never expires' },
];

/** The API adds the days to the expiry date, or to today if that date has passed. */
const daysHintFor =
  ({ expires_at }: LicenseBody) =>
  (days: number, today: string) =>
    expires_at !== null && expires_at > today
      ? `From ${formatDate(expires_at)} to ${formatDate(addDays(expires_at, days))}.`
      : `From today to ${formatDate(addDays(today, days))}.`;

const RenewForm = ({ license, onClose }: { license: LicenseBody; onClose: () => void }) => {
  const renew = useOnce({
    ...renewLicense(license.id),
    onSuccess: ({ expires_at }) =>
      showToast(
        expires_at === null
          ? 'License no longer expires'
          : `License renewed through ${formatDate(expires_at)}`,
      ),
  });
  return (
    <Form
      write={renew}
      onSend={(values) => renew.mutate(readExpiry(values), { onSuccess: onClose })}
      draft={useDraft()}
    >
      <ExpiryField
        label="New expiry"
        choices={CHOICES}
        chosen="days"
        neverHint="Removes the expiry date."
        daysHint={daysHintFor(license)}
      />
      <FormActions onCancel={onClose} isBusy={renew.isPending}>
        Renew license
      </FormActions>
    </Form>
  );
};

const CurrentExpiry = ({ license: { expires_at } }: { license: LicenseBody }) => {
  const today = isoDate(useNow());
  if (expires_at === null) return 'This license never expires.';
  return `${expires_at < today ? 'Expired on' : 'Valid through'} ${formatDate(expires_at)}.`;
};

export const RenewLicense = ({
  license,
  isOpen,
  onClose,
}: {
  license: LicenseBody;
  isOpen: boolean;
  onClose: () => void;
}) => (
  <Dialog isOpen={isOpen} onClose={onClose} title="Renew license" hint={<CurrentExpiry license={license} />}>
    <Drafted name={`renew-license.${license.id}`}>
      <RenewForm license={license} onClose={onClose} />
    </Drafted>
  </Dialog>
);
