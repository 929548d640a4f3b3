import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { startCheckout } from '../../data/mutations.ts';
import { billingQuery } from '../../data/queries.ts';
import type { PaidPlan } from './plan-text.ts';

/** Starts a checkout and redirects the browser to it. */
export const useCheckout = () => {
  const queryClient = useQueryClient();
  const { mutate, reset, status, variables, error } = useMutation({
    ...startCheckout,
    onSuccess: ({ checkout_url }) => location.assign(checkout_url),
  });

  // The Back button may restore this page from the back/forward cache while its button is still busy.
  useEffect(() => {
    const onShow = ({ persisted }: PageTransitionEvent) => {
      if (!persisted) return;
      reset();
      void queryClient.invalidateQueries({ queryKey: billingQuery.queryKey });
    };
    addEventListener('pageshow', onShow);
    return () => removeEventListener('pageshow', onShow);
  }, [queryClient, reset]);

  const isRedirecting = status === 'pending' || status === 'success';
  return {
    start: (plan: PaidPlan) => mutate(plan),
    redirectingFor: isRedirecting ? variables : null,
    failedFor: status === 'error' ? variables : null,
    error,
  };
};
