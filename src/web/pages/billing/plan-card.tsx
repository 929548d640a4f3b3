import { Check } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import { formatMoney } from '../../../shared/rules/money.ts';
import { PLANS } from '../../../shared/rules/plans.ts';
import { formatBytes, formatCount } from '../../lib/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { cx } from '../../ui/cx.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { PLAN_TITLES, type OfferedPlan } from './plan-text.ts';

// A subgrid aligns the buttons of all cards.
const CARD =
  'grid min-w-0 rounded-xl border bg-surface p-5 shadow-card md:row-span-3 md:grid-rows-subgrid md:gap-y-0';

const Feature = ({ children }: { children: ReactNode }) => (
  <li className="flex gap-2">
    <Check aria-hidden className="mt-0.5 size-4 shrink-0 text-brass" />
    <span className="nums min-w-0">{children}</span>
  </li>
);

/** A plan with its limits; `children` is its button or state. */
export const PlanCard = ({
  plan,
  isCurrent,
  hasOwnLabel,
  children,
}: {
  plan: OfferedPlan;
  isCurrent: boolean;
  /** Whether `children` already say that this is the current plan. */
  hasOwnLabel: boolean;
  children: ReactNode;
}) => {
  const id = useId();
  const { amount, currency, api_limit, license_limit, storage_limit, calls_per_second } = plan;
  return (
    <article
      aria-labelledby={id}
      aria-current={isCurrent || undefined}
      className={cx(CARD, isCurrent ? 'border-brass-line inset-ring inset-ring-brass-line' : 'border-line')}
    >
      <div>
        <div className="flex items-center justify-between gap-2">
          <h3 id={id} className="font-medium">
            {PLAN_TITLES[plan.plan]}
          </h3>
          {isCurrent && !hasOwnLabel && <Badge tone="brass">Current plan</Badge>}
        </div>
        <p className="mt-1 flex items-baseline gap-1.5">
          <span className="nums text-2xl font-semibold tracking-tight">{formatMoney(amount, currency)}</span>
          <span className="text-muted">per month</span>
        </p>
        <ul className="mt-4 mb-5 grid gap-2 text-sm">
          <Feature>{formatCount(api_limit)} API calls per month</Feature>
          <Feature>{formatCount(license_limit)} licenses</Feature>
          <Feature>{formatBytes(storage_limit)} of storage</Feature>
          <Feature>{formatCount(calls_per_second)} calls per second per API key</Feature>
          <Feature>{formatCount(PLANS[plan.plan].accountCallsPerSecond)} calls per second in total</Feature>
        </ul>
      </div>
      {children}
    </article>
  );
};

export const PlanCardSkeleton = () => (
  <div className={cx(CARD, 'border-line')}>
    <div className="mb-5 grid justify-items-start">
      <span className="flex h-5.5 items-center">
        <Skeleton className="h-4 w-14" />
      </span>
      <span className="mt-1 mb-4 flex h-8 items-center">
        <Skeleton className="h-7 w-32" />
      </span>
      <span className="grid h-33 content-evenly gap-2">
        <Skeleton className="h-4 w-48" />
        <Skeleton className="h-4 w-32" />
        <Skeleton className="h-4 w-32" />
        <Skeleton className="h-4 w-52" />
        <Skeleton className="h-4 w-44" />
      </span>
    </div>
    <Skeleton className="h-9 rounded-lg" />
  </div>
);
