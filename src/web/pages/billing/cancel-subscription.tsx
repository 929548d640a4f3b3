import { useMutation } from '@tanstack/react-query';
import { cancelSubscription } from '../../data/mutations.ts';
import type { Billing } from '../../data/queries.ts';
import { formatDate } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Choice, ChoiceGroup, Form } from '../../ui/form.tsx';
import { tell } from '../../ui/toast.tsx';
import { limitText, PLAN_NAMES, planOf, type Subscription } from './plan-words.ts';

const AtPeriodEnd = ({ subscription }: { subscription: Subscription }) => {
  const name = PLAN_NAMES[subscription.plan];
  const isPaid = subscription.status === 'active';
  return (
    <Choice
      type="radio"
      name="at"
      value="period_end"
      defaultChecked
      label={
        isPaid ? `At the end of the period, on ${formatDate(subscription.period_end)}` : 'When its limits end'
      }
      hint={
        isPaid
          ? `The limits of ${name} hold until then. After that you are on Free.`
          : `The payment failed: the limits of ${name} hold for 7 days from then. After that you are on Free.`
      }
    />
  );
};

const CancelForm = ({
  billing,
  subscription,
  onCancelled,
  onClose,
}: {
  billing: Billing;
  subscription: Subscription;
  onCancelled: () => void;
  onClose: () => void;
}) => {
  const isCancelled = subscription.status === 'cancelled';
  const free = planOf(billing, 'free');
  const atOnce = `The limits of Free hold at once${free ? `: ${limitText(free)}` : ''}.`;
  const cancel = useMutation({
    ...cancelSubscription,
    onSuccess: (_, at) => {
      tell(at === 'period_end' ? 'Subscription cancelled' : 'You are on Free');
      onCancelled();
    },
  });
  return (
    <Form write={cancel} onSend={({ at }) => cancel.mutate(at === 'period_end' ? 'period_end' : 'now')}>
      {isCancelled ? (
        <p>{atOnce}</p>
      ) : (
        <ChoiceGroup label="When">
          <AtPeriodEnd subscription={subscription} />
          <Choice type="radio" name="at" value="now" label="Now" hint={atOnce} />
        </ChoiceGroup>
      )}
      <DialogActions>
        <Button onClick={onClose}>Keep it</Button>
        <Button type="submit" variant="danger" isBusy={cancel.isPending}>
          {isCancelled ? 'End it now' : 'Cancel subscription'}
        </Button>
      </DialogActions>
    </Form>
  );
};

export const CancelSubscription = ({
  billing,
  subscription,
  isOpen,
  onCancelled,
  onClose,
}: {
  billing: Billing;
  subscription: Subscription;
  isOpen: boolean;
  onCancelled: () => void;
  onClose: () => void;
}) => {
  const name = PLAN_NAMES[subscription.plan];
  const isCancelled = subscription.status === 'cancelled';
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={isCancelled ? `End ${name} now?` : `Cancel ${name}?`}
      hint="Licenses, API keys and webhooks stay. Only the limits change."
    >
      <CancelForm billing={billing} subscription={subscription} onCancelled={onCancelled} onClose={onClose} />
    </Dialog>
  );
};
