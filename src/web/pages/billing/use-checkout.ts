import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, call } from '../../data/client.ts';
import { billingQuery } from '../../data/queries.ts';
import type { PaidPlan } from './plan-words.ts';

/** Off to where the plan is paid for. */
export const useCheckout = () => {
  const queryClient = useQueryClient();
  const { mutate, reset, status, variables, error } = useMutation({
    mutationFn: async (plan: PaidPlan) => {
      const back = '/billing?checkout=';
      const json = { plan, success_url: `${back}done`, cancel_url: `${back}cancelled` };
      const { checkout_url } = await call(api['init-payment'].$post({ json }));
      location.assign(checkout_url);
    },
    // What it was decided on may not hold any more.
    onError: () => void queryClient.invalidateQueries({ queryKey: billingQuery.queryKey }),
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
