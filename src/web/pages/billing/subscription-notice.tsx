import { CircleAlert, CircleMinus } from 'lucide-react';
import type { ReactNode } from 'react';
import { GRACE_DAYS } from '../../../shared/rules/plans.ts';
import type { Billing } from '../../data/queries.ts';
import { formatDate } from '../../lib/format.ts';
import { cx } from '../../ui/cx.ts';
import { PLAN_NAMES } from './plan-text.ts';

const Message = ({
  isBad = false,
  title,
  children,
}: {
  isBad?: boolean;
  title: string;
  children: ReactNode;
}) => {
  const Icon = isBad ? CircleAlert : CircleMinus;
  return (
    <div className={cx('flex gap-2.5 rounded-lg px-3.5 py-3 text-sm', isBad ? 'bg-warn-soft' : 'bg-sunken')}>
      <Icon aria-hidden className={cx('mt-0.5 size-4 shrink-0', isBad ? 'text-warn' : 'text-muted')} />
      <div className="min-w-0">
        <p className="font-medium">{title}</p>
        <p className="text-muted">{children}</p>
      </div>
    </div>
  );
};

/** Explains which limits apply after a failed payment or a cancellation, and until when. */
export const SubscriptionNotice = ({ billing }: { billing: Billing }) => {
  const { plan, subscription } = billing;
  if (!subscription || subscription.status === 'active') return null;
  const name = PLAN_NAMES[subscription.plan];
  if (subscription.status === 'cancelled') {
    const end = formatDate(subscription.ends_at ?? subscription.period_end);
    return (
      <Message
        title={`Canceled${subscription.cancelled_at ? ` on ${formatDate(subscription.cancelled_at)}` : ''}`}
      >
        You keep the limits of {name} until {end}. After that you move to Free and won’t be charged again.
      </Message>
    );
  }
  return plan === 'free' ? (
    <Message isBad title={`The last payment for ${name} failed`}>
      The {GRACE_DAYS}-day grace period is over, so the limits of Free apply. Pay for {name} below to get its
      limits back right away.
    </Message>
  ) : (
    <Message isBad title={`The last payment for ${name} failed`}>
      You keep the limits of {name} for {GRACE_DAYS} days after the failed payment. After that the limits of
      Free apply until a payment succeeds. You can pay for {name} below.
    </Message>
  );
};
