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

/** Focuses the heading when the subscription ends, because the button that had the focus disappears. */
const useFocusAfterEnd = (isSubscribed: boolean) => {
  const wasSubscribed = useRef(isSubscribed);
  useEffect(() => {
    const hasEnded = wasSubscribed.current && !isSubscribed;
    wasSubscribed.current = isSubscribed;
    if (!hasEnded) return undefined;
    // The closing dialog first returns the focus to that button.
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
  const [isCanceling, setCanceling] = useState(false);
  const subscription = billing?.subscription ?? null;
  useFocusAfterEnd(subscription !== null);
  const clearCheckout = () => void navigate({ search: {}, replace: true });
  // A retry of a cancellation whose response was lost must ask for the same, so the dialog keeps what it opened with.
  const [asked, setAsked] = useState(subscription);
  const openCancelDialog = () => {
    setAsked(subscription);
    setCanceling(true);
  };

  return (
    <Page title="Billing" hint="Manage your plan and view your payments.">
      {checkout && (
        <CheckoutNotice
          checkout={checkout}
          onDismiss={() => {
            focusHeading();
            clearCheckout();
          }}
        />
      )}
      {error && !billing ? (
        <Card>
          <LoadError error={error} onRetry={() => void refetch()} />
        </Card>
      ) : (
        <>
          <CurrentPlan billing={billing} onCancel={openCancelDialog} />
          <Plans billing={billing} onCancel={openCancelDialog} />
          <Payments payments={billing?.payments} />
        </>
      )}
      {billing && subscription && (
        <CancelSubscription
          billing={billing}
          subscription={asked ?? subscription}
          isOpen={isCanceling}
          onClose={() => setCanceling(false)}
          onCanceled={() => {
            setCanceling(false);
            clearCheckout();
          }}
        />
      )}
    </Page>
  );
};
