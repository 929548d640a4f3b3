import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { errorWords } from '../../data/error.ts';
import type { Billing } from '../../data/queries.ts';
import { formatDate } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { RequestId } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { PlanCard, PlanCardSkeleton } from './plan-card.tsx';
import { PLAN_NAMES, type PlanName } from './plan-words.ts';
import { useCheckout } from './use-checkout.ts';

const Standing = ({ children }: { children: ReactNode }) => (
  <p className="flex h-9 items-center justify-center gap-2 rounded-lg bg-sunken text-muted">{children}</p>
);

const Refused = ({ error }: { error: unknown }) => (
  <div role="alert" className="mt-3 rounded-lg bg-bad-soft px-3 py-2 text-sm">
    <p className="text-bad">{errorWords(error)}</p>
    <p className="text-muted">Nothing was charged, and your plan is as before.</p>
    <RequestId error={error} />
  </div>
);

const hintOf = ({ subscription }: Billing): string =>
  subscription
    ? `Paying for a plan starts a new month at its full price, in place of ${PLAN_NAMES[subscription.plan]}.`
    : 'Paid by the month, until you cancel.';

const payWords = ({ plan: current, subscription }: Billing, name: PlanName): string => {
  if (subscription?.plan !== name)
    return `${current === 'free' ? 'Upgrade' : 'Switch'} to ${PLAN_NAMES[name]}`;
  return subscription.status === 'past_due'
    ? `Pay for ${PLAN_NAMES[name]}`
    : `Subscribe to ${PLAN_NAMES[name]} again`;
};

/** The step that most people take from here. */
const likely = ({ subscription }: Billing): PlanName | null => {
  if (!subscription) return 'pro';
  if (subscription.status !== 'active') return subscription.plan;
  return subscription.plan === 'pro' ? 'scale' : null;
};

const isSettledOn = ({ plan, subscription }: Billing, name: PlanName): boolean =>
  subscription ? subscription.status === 'active' && subscription.plan === name : plan === name;

const Action = ({
  billing,
  name,
  checkout,
  onCancel,
}: {
  billing: Billing;
  name: PlanName;
  checkout: ReturnType<typeof useCheckout>;
  onCancel: () => void;
}) => {
  const { subscription } = billing;
  if (isSettledOn(billing, name)) {
    return (
      <Standing>
        <Check aria-hidden className="size-4 text-brass" />
        Current plan
      </Standing>
    );
  }
  if (name === 'free') {
    if (subscription?.status === 'cancelled')
      return <Standing>From {formatDate(subscription.ends_at ?? subscription.period_end)}</Standing>;
    return <Button onClick={onCancel}>Return to Free</Button>;
  }
  return (
    <>
      <Button
        variant={name === likely(billing) ? 'solid' : 'outline'}
        isBusy={checkout.leavingFor === name}
        disabled={checkout.leavingFor !== null && checkout.leavingFor !== name}
        onClick={() => checkout.start(name)}
      >
        {payWords(billing, name)}
      </Button>
      {checkout.failedFor === name && <Refused error={checkout.error} />}
    </>
  );
};

export const Plans = ({ billing, onCancel }: { billing: Billing | undefined; onCancel: () => void }) => {
  const checkout = useCheckout();
  return (
    <section aria-labelledby="plans">
      <div className="mb-3">
        <h2 id="plans" className="text-base font-semibold">
          Plans
        </h2>
        {billing ? (
          <p className="text-sm text-muted">{hintOf(billing)}</p>
        ) : (
          <span className="flex h-5 items-center">
            <Skeleton className="h-3.5 w-64" />
          </span>
        )}
      </div>
      <div className="grid gap-4 md:grid-cols-3 md:gap-y-0">
        {billing
          ? billing.plans.map((plan) => (
              <PlanCard
                key={plan.plan}
                plan={plan}
                isCurrent={plan.plan === billing.plan}
                isTold={isSettledOn(billing, plan.plan)}
              >
                <Action billing={billing} name={plan.plan} checkout={checkout} onCancel={onCancel} />
              </PlanCard>
            ))
          : ['free', 'pro', 'scale'].map((name) => <PlanCardSkeleton key={name} />)}
      </div>
    </section>
  );
};
