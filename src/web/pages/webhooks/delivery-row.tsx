import { Link } from '@tanstack/react-router';
import type { DeliveryBody } from '../../data/webhook-queries.ts';
import { plural } from '../../lib/format.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { cx } from '../../ui/cx.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { ROW_LINK, Td, Th, Tr } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { NextAttempt } from './next-attempt.tsx';

/** A delivery that waits was never tried, has failed so far, or has arrived and is sent again. */
const waiting = (attempts: DeliveryBody['attempts']) => {
  const last = attempts.at(-1);
  if (!last) return { tone: 'brass', label: 'Pending' } as const;
  return last.error === null
    ? ({ tone: 'brass', label: 'Delivering again' } as const)
    : ({ tone: 'warn', label: `Retrying, ${plural(attempts.length, 'attempt')}` } as const);
};

export const DeliveryBadge = ({ status, attempts }: Pick<DeliveryBody, 'status' | 'attempts'>) => {
  if (status === 'delivered') return <StateBadge tone="good">Delivered</StateBadge>;
  if (status === 'failed') return <StateBadge tone="bad">Failed</StateBadge>;
  const { tone, label } = waiting(attempts);
  return <StateBadge tone={tone}>{label}</StateBadge>;
};

const MIDDLE = 'max-md:hidden';
const WIDE = 'max-xl:hidden';
// On a phone the first column also shows the content of the other columns.
const FIRST = 'max-md:w-full max-md:max-w-0';

/** Shows fewer columns while a delivery is open next to the list. */
export const DeliveryHead = ({ isNarrow }: { isNarrow: boolean }) => (
  <>
    <Th>Event</Th>
    <Th className={MIDDLE}>Status</Th>
    {!isNarrow && (
      <>
        <Th className={WIDE}>Event ID</Th>
        <Th className={cx('text-right', MIDDLE)}>Attempts</Th>
        <Th className={MIDDLE}>Last response</Th>
        <Th className={MIDDLE}>Next attempt</Th>
      </>
    )}
    <Th className="text-right">Time</Th>
  </>
);

const LastResponse = ({ attempts }: Pick<DeliveryBody, 'attempts'>) => {
  const last = attempts.at(-1);
  if (!last) return <span className="text-muted">None yet</span>;
  return last.status_code === null ? (
    <span className="text-bad">No response</span>
  ) : (
    <span className={cx('nums', last.error !== null && 'text-bad')}>{last.status_code}</span>
  );
};

interface DeliveryRowProps {
  delivery: DeliveryBody;
  isNarrow: boolean;
  isOpen: boolean;
}

export const DeliveryRow = ({ delivery, isNarrow, isOpen }: DeliveryRowProps) => (
  <Tr className={cx('relative', isOpen && 'bg-hover shadow-[inset_2px_0_0_var(--color-brass-line)]')}>
    <Td className={isNarrow ? 'w-full max-w-0' : FIRST}>
      <Link
        to="/webhooks/$id"
        from="/webhooks/$id"
        search={{ tab: 'deliveries', delivery: delivery.id }}
        resetScroll={false}
        preload={false}
        id={delivery.id}
        aria-current={isOpen ? 'true' : undefined}
        className={cx('block truncate font-medium', ROW_LINK)}
      >
        {delivery.event}
      </Link>
      <span className="flex items-center gap-2 py-1 text-muted md:hidden">
        <DeliveryBadge {...delivery} />
        <LastResponse attempts={delivery.attempts} />
      </span>
    </Td>
    <Td className={MIDDLE}>
      <DeliveryBadge {...delivery} />
    </Td>
    {!isNarrow && (
      <>
        <Td className={cx('w-full max-w-0', WIDE)}>
          <code className="block truncate text-xs text-muted">{delivery.event_id}</code>
        </Td>
        <Td className={cx('nums text-right', MIDDLE)}>{delivery.attempts.length}</Td>
        <Td className={cx('whitespace-nowrap', MIDDLE)}>
          <LastResponse attempts={delivery.attempts} />
        </Td>
        <Td className={cx('min-w-36 whitespace-nowrap text-muted', MIDDLE)}>
          {delivery.status === 'pending' && <NextAttempt at={delivery.next_attempt_at} />}
        </Td>
      </>
    )}
    <Td className="min-w-30 text-right text-muted">
      <Time at={delivery.created_at} />
    </Td>
  </Tr>
);

const BARS = [cx('w-full', WIDE), cx('text-right', MIDDLE), MIDDLE, cx('min-w-36', MIDDLE)];
const WIDTHS = ['w-44', 'ml-auto w-4', 'w-10', 'w-24'];

export const DeliveryRowSkeletons = ({ isNarrow }: { isNarrow: boolean }) =>
  Array.from({ length: 8 }, (_, row) => (
    <tr key={row}>
      <Td className={isNarrow ? 'w-full max-w-0' : FIRST}>
        <Skeleton className="h-3.5 w-28" />
        <Skeleton className="my-1 h-5.5 w-20 md:hidden" />
      </Td>
      <Td className={MIDDLE}>
        <Skeleton className="h-5.5 w-20" />
      </Td>
      {!isNarrow &&
        BARS.map((cell, column) => (
          <Td key={cell} className={cell}>
            <Skeleton className={cx('h-3.5', WIDTHS[column])} />
          </Td>
        ))}
      <Td className="min-w-30">
        <Skeleton className="ml-auto h-3.5 w-20" />
      </Td>
    </tr>
  ));
