import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { billingQuery } from '../../data/queries.ts';
import { Card } from '../../ui/card.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { CancelSubscription } from './cancel-subscription.tsx';
import { CheckoutNotice } from './checkout-notice.tsx';
import { CurrentPlan } from './current-plan.tsx';
import { Payments } from './payments.tsx';
import { Plans } from './plans.tsx';

const route = getRouteApi('/shell/billing');

const focusHeading = () => document.querySelector('h1')?.focus();

/** The button that had the focus goes away with the subscription. */
const useFocusAfterEnd = (isSubscribed: boolean) => {
  const before = useRef(isSubscribed);
  useEffect(() => {
    const hasEnded = before.current && !isSubscribed;
    before.current = isSubscribed;
    if (!hasEnded) return undefined;
    // After the dialog has given back the focus to what may not be there any more.
    const timer = setTimeout(() => {
      if (document.activeElement === document.body) focusHeading();
    }, 50);
    return () => clearTimeout(timer);
  }, [isSubscribed]);
};

export const BillingPage = () => {
  const { checkout } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: billing, error, refetch } = useQuery(billingQuery);
  const [isCancelling, setCancelling] = useState(false);
  const subscription = billing?.subscription ?? null;
  useFocusAfterEnd(subscription !== null);
  const forgetCheckout = () => void navigate({ search: {}, replace: true });
  const askToCancel = () => setCancelling(true);

  return (
    <Page title="Billing" hint="Your plan, its limits and your payments.">
      {checkout && (
        <CheckoutNotice
          checkout={checkout}
          onDismiss={() => {
            focusHeading();
            forgetCheckout();
          }}
        />
      )}
      {error && !billing ? (
        <Card>
          <LoadError error={error} onRetry={() => void refetch()} />
        </Card>
      ) : (
        <>
          <CurrentPlan billing={billing} onCancel={askToCancel} />
          <Plans billing={billing} onCancel={askToCancel} />
          <Payments payments={billing?.payments} />
        </>
      )}
      {billing && subscription && (
        <CancelSubscription
          billing={billing}
          subscription={subscription}
          isOpen={isCancelling}
          onClose={() => setCancelling(false)}
          onCancelled={() => {
            setCancelling(false);
            forgetCheckout();
          }}
        />
      )}
    </Page>
  );
};
