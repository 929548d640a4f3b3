import { useMutation, useQuery } from '@tanstack/react-query';
import { CircleAlert, CircleMinus } from 'lucide-react';
import type { ReactNode } from 'react';
import { GRACE_DAYS } from '../../../shared/rules/plans.ts';
import { openBillingPortal } from '../../data/mutations.ts';
import { type Billing, dashboardQuery } from '../../data/queries.ts';
import { formatCount, formatDate } from '../../lib/format.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { cx } from '../../ui/cx.ts';
import { Meter } from '../../ui/meter.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { showError } from '../../ui/toast.tsx';
import { PLAN_TITLES, type Subscription, planOf, priceText } from './plan-text.ts';
import { useReturn } from './use-return.ts';

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
const SubscriptionNotice = ({ billing }: { billing: Billing }) => {
  const { plan, subscription } = billing;
  if (!subscription || subscription.status === 'active') return null;
  const name = PLAN_TITLES[subscription.plan];
  if (subscription.status === 'cancelled') {
    const end = formatDate(subscription.ends_at ?? subscription.period_end);
    return (
      <Message
        title={`Canceled${subscription.cancelled_at ? ` on ${formatDate(subscription.cancelled_at)}` : ''}`}
      >
        You keep the limits of {name} until {end}. After that you move to Free and won’t be charged again.
        Until then you can resume {name}.
      </Message>
    );
  }
  if (subscription.status === 'suspended') {
    return (
      <Message isBad title={`The last payment for ${name} is disputed`}>
        The limits of Free apply until your bank decides or you withdraw the dispute.
      </Message>
    );
  }
  return plan === 'free' ? (
    <Message isBad title={`The last payment for ${name} failed`}>
      The {GRACE_DAYS}-day grace period is over, so the limits of Free apply. Pay the open invoice, or pay for{' '}
      {name} below, to get its limits back right away.
    </Message>
  ) : (
    <Message isBad title={`The last payment for ${name} failed`}>
      You keep the limits of {name} until {formatDate(subscription.ends_at ?? subscription.period_end)}. After
      that the limits of Free apply until a payment succeeds. Pay the open invoice, or pay for {name} below:
      that cancels the invoice.
    </Message>
  );
};

const PlanUsage = () => {
  const { data, isError, refetch } = useQuery(dashboardQuery);
  if (!data) {
    return isError ? (
      <p role="alert" className="flex h-8 items-center gap-3 text-sm text-muted">
        Couldn’t load usage.
        <Button size="sm" onClick={() => void refetch()}>
          Try again
        </Button>
      </p>
    ) : (
      <div className="grid h-8 content-between">
        <Skeleton className="h-4 w-60" />
        <Skeleton className="h-1.5" />
      </div>
    );
  }
  const { api_usage: used, api_limit: limit, period_start, period_end } = data.usage;
  return (
    <div className="grid gap-1.5">
      <p className="nums flex flex-wrap justify-between gap-x-4 text-sm">
        <span>
          <span className="font-medium">{formatCount(used)}</span>{' '}
          <span className="text-muted">of {formatCount(limit)} API calls used</span>
        </span>
        <span className="text-muted">
          {formatDate(period_start)} to {formatDate(period_end)}
        </span>
      </p>
      <Meter label="API calls used" used={used} limit={limit} />
      {used >= limit && (
        <p className="text-sm text-bad">
          You’ve reached your limit. Until the period ends or you upgrade, only existing customers’ machines
          are answered, up to 125% of the limit.
        </p>
      )}
    </div>
  );
};

const BADGES = {
  active: { tone: 'good', label: 'Active' },
  past_due: { tone: 'warn', label: 'Payment failed' },
  suspended: { tone: 'warn', label: 'Payment disputed' },
  cancelled: { tone: 'plain', label: 'Canceled' },
} as const;

/** Returns when the subscription renews or ends. */
const nextDateText = ({ status, period_end, ends_at }: Subscription): string | null => {
  if (status === 'active') return `Renews on ${formatDate(period_end)}`;
  return status === 'cancelled' ? `Ends on ${formatDate(ends_at ?? period_end)}` : null;
};

/** The sandbox has no cards and no invoices. */
const hasPortal = ({ payments }: Billing) => payments.some(({ provider }) => provider !== 'sandbox');

/** Leads to the provider's page. */
const Portal = ({ billing }: { billing: Billing }) => {
  const portal = useMutation({
    ...openBillingPortal,
    onSuccess: ({ url }) => location.assign(url),
    onError: showError,
  });
  useReturn(portal.reset);
  if (!hasPortal(billing)) return null;
  return (
    <Button isBusy={portal.isPending || portal.isSuccess} onClick={() => portal.mutate()}>
      Cards and invoices
    </Button>
  );
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
          {PLAN_TITLES[name]}
          {badge && (
            <span className="flex text-xs tracking-normal">
              <StateBadge tone={badge.tone}>{badge.label}</StateBadge>
            </span>
          )}
        </p>
        <p className="nums mt-0.5 text-muted">{facts.filter(Boolean).join(' · ')}</p>
      </div>
      {subscription && (
        <div className="flex flex-wrap gap-2">
          <Portal billing={billing} />
          <Button onClick={onCancel}>
            {subscription.status === 'cancelled' ? 'End now' : 'Cancel subscription'}
          </Button>
        </div>
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
