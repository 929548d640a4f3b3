import type { Billing } from '../../data/queries.ts';
import { formatDate } from '../../lib/format.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { PLAN_NAMES, planOf, priceText, type Subscription } from './plan-text.ts';
import { SubscriptionNotice } from './subscription-notice.tsx';
import { PlanUsage } from './plan-usage.tsx';

const BADGES = {
  active: { tone: 'good', label: 'Active' },
  past_due: { tone: 'warn', label: 'Payment failed' },
  cancelled: { tone: 'plain', label: 'Canceled' },
} as const;

/** Returns when the subscription renews or ends. */
const nextDateText = ({ status, period_end, ends_at }: Subscription): string | null => {
  if (status === 'active') return `Renews on ${formatDate(period_end)}`;
  return status === 'cancelled' ? `Ends on ${formatDate(ends_at ?? period_end)}` : null;
};

const Head = ({ billing, onCancel }: { billing: Billing; onCancel: () => void }) => {
  const { plan: name, subscription } = billing;
  const plan = planOf(billing, name);
  const badge = subscription && BADGES[subscription.status];
  const facts = [plan && priceText(plan), subscription && nextDateText(subscription)];
  return (
    <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-4">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-2xl font-semibold tracking-tight">
          {PLAN_NAMES[name]}
          {badge && (
            <span className="flex text-xs tracking-normal">
              <StateBadge tone={badge.tone}>{badge.label}</StateBadge>
            </span>
          )}
        </p>
        <p className="nums mt-0.5 text-muted">{facts.filter(Boolean).join(' · ')}</p>
      </div>
      {subscription && (
        <Button onClick={onCancel}>
          {subscription.status === 'cancelled' ? 'End now' : 'Cancel subscription'}
        </Button>
      )}
    </div>
  );
};

export const CurrentPlan = ({
  billing,
  onCancel,
}: {
  billing: Billing | undefined;
  onCancel: () => void;
}) => (
  <Card className="grid gap-5 p-5" aria-labelledby="current-plan">
    <h2 id="current-plan" className="-mb-3.5 text-sm font-medium text-muted">
      Current plan
    </h2>
    {billing ? (
      <>
        <Head billing={billing} onCancel={onCancel} />
        <SubscriptionNotice billing={billing} />
      </>
    ) : (
      <div className="grid h-14 content-start gap-2 pt-1">
        <Skeleton className="h-6 w-24" />
        <Skeleton className="h-4 w-56" />
      </div>
    )}
    <PlanUsage />
  </Card>
);
