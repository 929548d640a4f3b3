import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import {
  accountQuery,
  type Billing,
  billingQuery,
  dashboardQuery,
  progressQuery,
} from '../../data/queries.ts';
import { formatMoney } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { Notice, type NoticeWords } from './notice.tsx';
import { limitWords, PLAN_NAMES, planOf } from './plan-words.ts';

const POLL_MS = 1_000;
const PATIENCE_MS = 20_000;

const CONFIRMING: NoticeWords = {
  kind: 'waiting',
  title: 'Confirming your payment',
  text: 'This usually takes a few seconds.',
};

const LATE: NoticeWords = {
  kind: 'waiting',
  title: 'Your payment is still being confirmed',
  text: 'Your plan changes by itself as soon as it is. You need not stay on this page.',
};

const NOT_COMPLETED: NoticeWords = {
  kind: 'plain',
  title: 'The checkout was not completed',
  text: 'Nothing was charged, and your plan is as before.',
};

const DECLINED: NoticeWords = { ...NOT_COMPLETED, kind: 'bad', title: 'The payment was declined' };

const paidWords = (
  billing: Billing,
  { plan, amount, currency }: Billing['payments'][number],
): NoticeWords => {
  const limits = planOf(billing, plan);
  const isOn = billing.plan === plan;
  return {
    kind: 'good',
    title: isOn ? `You are on ${PLAN_NAMES[plan]}` : `Your payment for ${PLAN_NAMES[plan]} is confirmed`,
    text: `${formatMoney(amount, currency)} paid.${isOn && limits ? ` It gives ${limitWords(limits)}.` : ''}`,
  };
};

const newest = (billing: Billing | undefined) => billing?.payments[0];

/** True from `PATIENCE_MS` after it was first asked. */
const useIsLate = (): boolean => {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return isLate;
};

const Confirmation = ({ onDismiss }: { onDismiss: () => void }) => {
  const queryClient = useQueryClient();
  const isLate = useIsLate();
  const {
    data: billing,
    isFetching,
    refetch,
  } = useQuery({
    ...billingQuery,
    refetchInterval: ({ state }) => {
      const isOpen = state.data === undefined || newest(state.data)?.status === 'pending';
      return isOpen && !isLate && POLL_MS;
    },
  });
  const payment = newest(billing);
  const isPaid = payment?.status === 'paid';

  useEffect(() => {
    if (!isPaid) return;
    for (const { queryKey } of [dashboardQuery, accountQuery, progressQuery])
      void queryClient.invalidateQueries({ queryKey });
  }, [isPaid, queryClient]);

  if (billing && isPaid) return <Notice words={paidWords(billing, payment)} onDismiss={onDismiss} />;
  if (payment?.status === 'declined') return <Notice words={DECLINED} onDismiss={onDismiss} />;
  if (billing && payment?.status !== 'pending') return <Notice words={NOT_COMPLETED} onDismiss={onDismiss} />;
  return (
    <Notice
      words={isLate ? LATE : CONFIRMING}
      action={
        isLate && (
          <Button size="sm" isBusy={isFetching} onClick={() => void refetch()}>
            Check again
          </Button>
        )
      }
      onDismiss={onDismiss}
    />
  );
};

/** Whoever comes back from paying is told what has come of it. */
export const CheckoutNotice = ({
  checkout,
  onDismiss,
}: {
  checkout: 'done' | 'cancelled';
  onDismiss: () => void;
}) =>
  checkout === 'done' ? (
    <Confirmation onDismiss={onDismiss} />
  ) : (
    <Notice words={NOT_COMPLETED} onDismiss={onDismiss} />
  );
