import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { startCheckout } from '../../data/mutations.ts';
import { billingQuery } from '../../data/queries.ts';
import type { PaidPlan } from './plan-words.ts';

/** Off to where the plan is paid for. */
export const useCheckout = () => {
  const queryClient = useQueryClient();
  const { mutate, reset, status, variables, error } = useMutation({
    ...startCheckout,
    onSuccess: ({ checkout_url }) => location.assign(checkout_url),
  });

  // Whoever steps back from there may find this page as it was left.
  useEffect(() => {
    const onShow = ({ persisted }: PageTransitionEvent) => {
      if (!persisted) return;
      reset();
      void queryClient.invalidateQueries({ queryKey: billingQuery.queryKey });
    };
    addEventListener('pageshow', onShow);
    return () => removeEventListener('pageshow', onShow);
  }, [queryClient, reset]);

  const isLeaving = status === 'pending' || status === 'success';
  return {
    start: (plan: PaidPlan) => mutate(plan),
    leavingFor: isLeaving ? variables : null,
    failedFor: status === 'error' ? variables : null,
    error,
  };
};
