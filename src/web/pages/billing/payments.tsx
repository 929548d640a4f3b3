import { ReceiptText } from 'lucide-react';
import { formatMoney } from '../../../shared/rules/money.ts';
import type { Billing } from '../../data/queries.ts';
import { formatDate, formatExact } from '../../lib/format.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { CopyIcon } from '../../ui/copy.tsx';
import { cx } from '../../ui/cx.ts';
import { Empty } from '../../ui/notice.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Table, Td, Th, Tr } from '../../ui/table.tsx';
import { Tip } from '../../ui/tip.tsx';
import { PLAN_TITLES } from './plan-text.ts';

type Payment = Billing['payments'][number];

/** The number of payments that the API returns. */
const LATEST = 50;

const STATES = {
  paid: { tone: 'good', label: 'Paid' },
  pending: { tone: 'warn', label: 'Pending' },
  declined: { tone: 'bad', label: 'Declined' },
  expired: { tone: 'plain', label: 'Expired' },
  replaced: { tone: 'plain', label: 'Replaced' },
  refunded: { tone: 'plain', label: 'Refunded' },
  disputed: { tone: 'warn', label: 'Disputed' },
} as const;

const NARROW = 'max-sm:px-2';

const HEAD = (
  <>
    <Th>Date</Th>
    <Th className={NARROW}>Plan</Th>
    <Th className={`text-right ${NARROW}`}>Amount</Th>
    <Th>Status</Th>
    <Th className="max-md:hidden">Payment ID</Th>
  </>
);

const Row = ({ payment }: { payment: Payment }) => {
  const { payment_id, plan, amount, currency, status, paid_at, created_at } = payment;
  const at = paid_at ?? created_at;
  const { tone, label } = STATES[status];
  return (
    <Tr>
      <Td className="whitespace-nowrap">
        <Tip text={formatExact(at)}>
          <time dateTime={at} className="nums">
            {formatDate(at)}
          </time>
        </Tip>
      </Td>
      <Td className={NARROW}>{PLAN_TITLES[plan]}</Td>
      <Td className={cx('nums text-right', NARROW, status !== 'paid' && 'text-muted')}>
        {formatMoney(amount, currency)}
      </Td>
      <Td>
        <StateBadge tone={tone}>{label}</StateBadge>
      </Td>
      <Td className="max-md:hidden">
        <span className="flex items-center gap-1">
          <code className="text-xs whitespace-nowrap">{payment_id}</code>
          <CopyIcon text={payment_id} what="payment ID" />
        </span>
      </Td>
    </Tr>
  );
};

export const Payments = ({ payments }: { payments: Payment[] | undefined }) => (
  <Card>
    <CardHeader title="Payments" />
    {payments?.length === 0 ? (
      <Empty icon={<ReceiptText />} title="No payments yet">
        Payments for your plan are listed here.
      </Empty>
    ) : (
      <Table label="Payments" head={HEAD}>
        {payments ? (
          payments.map((payment) => <Row key={payment.payment_id} payment={payment} />)
        ) : (
          <SkeletonRows rows={3} columns={5} />
        )}
      </Table>
    )}
    {payments?.length === LATEST && (
      <p className="border-t border-line px-5 py-3 text-sm text-muted">
        Showing the latest {LATEST} payments.
      </p>
    )}
  </Card>
);
