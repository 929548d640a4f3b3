import { useMutation } from '@tanstack/react-query';
import { GRACE_DAYS } from '../../../shared/rules/plans.ts';
import { cancelSubscription } from '../../data/mutations.ts';
import type { Billing } from '../../data/queries.ts';
import { formatDate } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Choice, ChoiceGroup, Form } from '../../ui/form.tsx';
import { showToast } from '../../ui/toast.tsx';
import { limitText, PLAN_TITLES, planOf, type Subscription } from './plan-text.ts';

const AtPeriodEnd = ({ subscription }: { subscription: Subscription }) => {
  const name = PLAN_TITLES[subscription.plan];
  const isPaid = subscription.status === 'active';
  return (
    <Choice
      type="radio"
      name="at"
      value="period_end"
      defaultChecked
      label={
        isPaid
          ? `At the end of the period, on ${formatDate(subscription.period_end)}`
          : 'When the grace period ends'
      }
      hint={
        isPaid
          ? `You keep the limits of ${name} until then and move to Free afterwards.`
          : `You keep the limits of ${name} for ${GRACE_DAYS} days after the failed payment and move to Free afterwards.`
      }
    />
  );
};

const CancelForm = ({
  billing,
  subscription,
  onCanceled,
  onClose,
}: {
  billing: Billing;
  subscription: Subscription;
  onCanceled: () => void;
  onClose: () => void;
}) => {
  const isCanceled = subscription.status === 'cancelled';
  // While a payment is disputed, there is no period to keep.
  const endsNow = isCanceled || subscription.status === 'suspended';
  const free = planOf(billing, 'free');
  const immediateEffect = `The limits of Free apply immediately${free ? `: ${limitText(free)}` : ''}.`;
  const cancel = useMutation({
    ...cancelSubscription,
    onSuccess: (_, at) => {
      showToast(at === 'period_end' ? 'Subscription canceled' : 'You’re on Free');
      onCanceled();
    },
  });
  return (
    <Form write={cancel} onSend={({ at }) => cancel.mutate(at === 'period_end' ? 'period_end' : 'now')}>
      {endsNow ? (
        <p>{immediateEffect}</p>
      ) : (
        <ChoiceGroup label="When to cancel">
          <AtPeriodEnd subscription={subscription} />
          <Choice type="radio" name="at" value="now" label="Now" hint={immediateEffect} />
        </ChoiceGroup>
      )}
      <DialogActions>
        <Button onClick={onClose}>Keep subscription</Button>
        <Button type="submit" variant="danger" isBusy={cancel.isPending}>
          {endsNow ? 'End now' : 'Cancel subscription'}
        </Button>
      </DialogActions>
    </Form>
  );
};

export const CancelSubscription = ({
  billing,
  subscription,
  isOpen,
  onCanceled,
  onClose,
}: {
  billing: Billing;
  subscription: Subscription;
  isOpen: boolean;
  onCanceled: () => void;
  onClose: () => void;
}) => {
  const name = PLAN_TITLES[subscription.plan];
  const isCanceled = subscription.status === 'cancelled';
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={isCanceled ? `End ${name} now?` : `Cancel ${name}?`}
      hint="Your licenses, API keys, and webhooks are kept. Only your limits change."
    >
      <CancelForm billing={billing} subscription={subscription} onCanceled={onCanceled} onClose={onClose} />
    </Dialog>
  );
};
