import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import type { PaidPlan, PlanName } from '../../../shared/rules/plans.ts';
import { errorMessage } from '../../data/error.ts';
import { resumeSubscription, startCheckout } from '../../data/mutations.ts';
import { type Billing, billingQuery } from '../../data/queries.ts';
import { formatDate } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { RequestId } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { showToast } from '../../ui/toast.tsx';
import { PlanCard, PlanCardSkeleton } from './plan-card.tsx';
import { PLAN_TITLES } from './plan-text.ts';
import { useReturn } from './use-return.ts';

/** Starts a checkout and redirects the browser to it. */
const useCheckout = () => {
  const queryClient = useQueryClient();
  const { mutate, reset, status, variables, error } = useMutation({
    ...startCheckout,
    onSuccess: ({ checkout_url }) => location.assign(checkout_url),
  });

  useReturn(() => {
    reset();
    void queryClient.invalidateQueries({ queryKey: billingQuery.queryKey });
  });

  const isRedirecting = status === 'pending' || status === 'success';
  return {
    start: (plan: PaidPlan) => mutate(plan),
    redirectingFor: isRedirecting ? variables : null,
    failedFor: status === 'error' ? variables : null,
    error,
  };
};

const State = ({ children }: { children: ReactNode }) => (
  <p className="flex h-9 items-center justify-center gap-2 rounded-lg bg-sunken text-muted">{children}</p>
);

const CheckoutError = ({ error }: { error: unknown }) => (
  <div role="alert" className="mt-3 rounded-lg bg-bad-soft px-3 py-2 text-sm">
    <p className="text-bad">{errorMessage(error)}</p>
    <p className="text-muted">You were not charged, and your plan has not changed.</p>
    <RequestId error={error} />
  </div>
);

const hintOf = ({ subscription }: Billing): string =>
  subscription?.status === 'active' || subscription?.status === 'cancelled'
    ? `What is left of ${PLAN_TITLES[subscription.plan]} counts toward another plan.`
    : 'Billed monthly. Cancel anytime.';

const checkoutLabel = ({ plan: current, subscription }: Billing, name: PlanName): string => {
  if (subscription?.plan !== name)
    return `${current === 'free' ? 'Upgrade' : 'Switch'} to ${PLAN_TITLES[name]}`;
  return `Pay for ${PLAN_TITLES[name]}`;
};

/** Returns the plan whose button is highlighted. */
const suggestedPlan = ({ subscription }: Billing): PlanName | null => {
  if (!subscription) return 'pro';
  if (subscription.status !== 'active') return subscription.plan;
  return subscription.plan === 'pro' ? 'scale' : null;
};

const isActivePlan = ({ plan, subscription }: Billing, name: PlanName): boolean =>
  subscription ? subscription.status === 'active' && subscription.plan === name : plan === name;

/** Lets a canceled plan go on, which costs nothing until the period ends. */
const Resume = ({ name }: { name: PaidPlan }) => {
  const resume = useMutation({
    ...resumeSubscription,
    onSuccess: () => showToast(`${PLAN_TITLES[name]} continues`),
  });
  return (
    <>
      <Button variant="solid" isBusy={resume.isPending} onClick={() => resume.mutate()}>
        Resume {PLAN_TITLES[name]}
      </Button>
      {resume.error && (
        <div role="alert" className="mt-3 rounded-lg bg-bad-soft px-3 py-2 text-sm">
          <p className="text-bad">{errorMessage(resume.error)}</p>
          <RequestId error={resume.error} />
        </div>
      )}
    </>
  );
};

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
  if (subscription?.plan === name && subscription.status === 'cancelled') return <Resume name={name} />;
  if (isActivePlan(billing, name)) {
    return (
      <State>
        <Check aria-hidden className="size-4 text-brass" />
        Current plan
      </State>
    );
  }
  if (name === 'free') {
    if (subscription?.status === 'cancelled')
      return <State>Starts on {formatDate(subscription.ends_at ?? subscription.period_end)}</State>;
    return <Button onClick={onCancel}>Downgrade to Free</Button>;
  }
  return (
    <>
      <Button
        variant={name === suggestedPlan(billing) ? 'solid' : 'outline'}
        isBusy={checkout.redirectingFor === name}
        disabled={checkout.redirectingFor !== null && checkout.redirectingFor !== name}
        onClick={() => checkout.start(name)}
      >
        {checkoutLabel(billing, name)}
      </Button>
      {checkout.failedFor === name && <CheckoutError error={checkout.error} />}
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
                hasOwnLabel={isActivePlan(billing, plan.plan)}
              >
                <Action billing={billing} name={plan.plan} checkout={checkout} onCancel={onCancel} />
              </PlanCard>
            ))
          : ['free', 'pro', 'scale'].map((name) => <PlanCardSkeleton key={name} />)}
      </div>
    </section>
  );
};
