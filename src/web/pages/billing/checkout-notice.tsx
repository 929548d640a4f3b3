import { useQuery, useQueryClient } from '@tanstack/react-query';
import { CircleAlert, CircleCheck, CircleMinus, Clock, X } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { formatMoney } from '../../../shared/rules/money.ts';
import {
  type Billing,
  accountQuery,
  billingQuery,
  dashboardQuery,
  progressQuery,
} from '../../data/queries.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { PLAN_TITLES, limitText, planOf } from './plan-text.ts';

const KINDS = {
  good: { icon: CircleCheck, box: 'border-transparent bg-good-soft', color: 'text-good' },
  bad: { icon: CircleAlert, box: 'border-transparent bg-bad-soft', color: 'text-bad' },
  waiting: { icon: Clock, box: 'border-transparent bg-brass-soft', color: 'text-brass' },
  plain: { icon: CircleMinus, box: 'border-line bg-surface', color: 'text-muted' },
};

interface NoticeContent {
  kind: keyof typeof KINDS;
  title: string;
  text: string;
}

/** A status message that screen readers announce when its text changes. */
const Notice = ({
  content: { kind, title, text },
  action,
  onDismiss,
}: {
  content: NoticeContent;
  action?: ReactNode;
  onDismiss: () => void;
}) => {
  const { icon: Icon, box, color } = KINDS[kind];
  return (
    <div className={cx('flex items-start gap-3 rounded-xl border py-3 pr-2.5 pl-4', box)}>
      <Icon aria-hidden className={cx('mt-2 size-4 shrink-0', color)} />
      <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-4 gap-y-2 py-1">
        <div role="status" className="min-w-0 flex-1 basis-64">
          <p className="font-medium">{title}</p>
          <p className="text-sm text-muted">{text}</p>
        </div>
        {action}
      </div>
      <IconButton label="Dismiss" onClick={onDismiss}>
        <X aria-hidden />
      </IconButton>
    </div>
  );
};

const POLL_MS = 1_000;
const CONFIRMATION_TIMEOUT_MS = 20_000;

const CONFIRMING: NoticeContent = {
  kind: 'waiting',
  title: 'Confirming your payment',
  text: 'This usually takes a few seconds.',
};

const DELAYED: NoticeContent = {
  kind: 'waiting',
  title: 'Your payment is still being confirmed',
  text: 'Your plan changes as soon as the payment is confirmed. You can leave this page.',
};

const NOT_COMPLETED: NoticeContent = {
  kind: 'plain',
  title: 'Checkout not completed',
  text: 'You were not charged, and your plan has not changed.',
};

const GIVEN_BACK: NoticeContent = {
  kind: 'plain',
  title: 'Your payment was refunded',
  text: 'It had no effect, because your plan was already paid for or had ended.',
};

const DECLINED: NoticeContent = { ...NOT_COMPLETED, kind: 'bad', title: 'Payment declined' };

const paidNotice = (
  billing: Billing,
  { plan, amount, currency }: Billing['payments'][number],
): NoticeContent => {
  const limits = planOf(billing, plan);
  const isCurrent = billing.plan === plan;
  return {
    kind: 'good',
    title: isCurrent
      ? `You’re on ${PLAN_TITLES[plan]}`
      : `Your payment for ${PLAN_TITLES[plan]} is confirmed`,
    text: `${amount > 0 ? `You paid ${formatMoney(amount, currency)}.` : 'Nothing was charged now.'}${isCurrent && limits ? ` Your plan includes ${limitText(limits)}.` : ''}`,
  };
};

const newestPayment = (billing: Billing | undefined) => billing?.payments[0];

/** Returns true once `CONFIRMATION_TIMEOUT_MS` have passed since the first render. */
const useIsDelayed = (): boolean => {
  const [isDelayed, setDelayed] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(true), CONFIRMATION_TIMEOUT_MS);
    return () => clearTimeout(timer);
  }, []);
  return isDelayed;
};

const Confirmation = ({ onDismiss }: { onDismiss: () => void }) => {
  const queryClient = useQueryClient();
  const isDelayed = useIsDelayed();
  const {
    data: billing,
    isFetching,
    refetch,
  } = useQuery({
    ...billingQuery,
    refetchInterval: ({ state }) => {
      const isUnsettled = state.data === undefined || newestPayment(state.data)?.status === 'pending';
      return isUnsettled && !isDelayed && POLL_MS;
    },
  });
  const payment = newestPayment(billing);
  const isPaid = payment?.status === 'paid';

  useEffect(() => {
    if (!isPaid) return;
    for (const { queryKey } of [dashboardQuery, accountQuery, progressQuery])
      void queryClient.invalidateQueries({ queryKey });
  }, [isPaid, queryClient]);

  if (billing && isPaid) return <Notice content={paidNotice(billing, payment)} onDismiss={onDismiss} />;
  if (payment?.status === 'declined') return <Notice content={DECLINED} onDismiss={onDismiss} />;
  if (payment?.status === 'refunded') return <Notice content={GIVEN_BACK} onDismiss={onDismiss} />;
  if (billing && payment?.status !== 'pending')
    return <Notice content={NOT_COMPLETED} onDismiss={onDismiss} />;
  return (
    <Notice
      content={isDelayed ? DELAYED : CONFIRMING}
      action={
        isDelayed && (
          <Button size="sm" isBusy={isFetching} onClick={() => void refetch()}>
            Check again
          </Button>
        )
      }
      onDismiss={onDismiss}
    />
  );
};

/** Shows the result after the checkout redirects back to this page. */
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
    <Notice content={NOT_COMPLETED} onDismiss={onDismiss} />
  );
