import { CircleAlert, CircleMinus } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Billing } from '../../data/queries.ts';
import { formatDate } from '../../lib/format.ts';
import { cx } from '../../ui/cx.ts';
import { PLAN_NAMES } from './plan-words.ts';

const Words = ({
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

/** Where a subscription does not simply go on: what holds, and until when. */
export const Standing = ({ billing }: { billing: Billing }) => {
  const { plan, subscription } = billing;
  if (!subscription || subscription.status === 'active') return null;
  const name = PLAN_NAMES[subscription.plan];
  if (subscription.status === 'cancelled') {
    const end = formatDate(subscription.ends_at ?? subscription.period_end);
    return (
      <Words
        title={`Cancelled${subscription.cancelled_at ? ` on ${formatDate(subscription.cancelled_at)}` : ''}`}
      >
        The limits of {name} hold until {end}. After that you are on Free, and nothing more is charged.
      </Words>
    );
  }
  return plan === 'free' ? (
    <Words isBad title={`The last payment for ${name} failed`}>
      The 7 days that its limits held after that are over, so those of Free apply. Pay for {name} below to
      have them back at once.
    </Words>
  ) : (
    <Words isBad title={`The last payment for ${name} failed`}>
      Its limits hold for 7 days from then; after that those of Free apply until a payment succeeds. You can
      pay for {name} below.
    </Words>
  );
};
