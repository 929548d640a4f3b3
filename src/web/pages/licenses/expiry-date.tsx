import type { License } from '../../data/queries.ts';
import { formatDate, plural } from '../../lib/format.ts';
import { cx } from '../../ui/cx.ts';
import { useNow } from '../../ui/time.tsx';
import { dayOf, daysBetween } from './dates.ts';

const SOON_DAYS = 14;

const useDaysLeft = ({ status, expires_at }: License): string | null => {
  const today = dayOf(useNow());
  if (expires_at === null || status !== 'active') return null;
  const days = daysBetween(today, expires_at);
  if (days > SOON_DAYS) return null;
  return days > 0 ? `${plural(days, 'day')} left` : 'Last day';
};

/** The last day, and how near it is once that matters. */
export const ExpiryDate = ({
  license,
  isStacked = false,
}: {
  license: License;
  /** The one below the other, each on a line of a table's row. */
  isStacked?: boolean;
}) => {
  const left = useDaysLeft(license);
  if (license.expires_at === null) return <span className="text-muted">Never</span>;
  return (
    <span className={cx('flex whitespace-nowrap', isStacked ? 'flex-col' : 'items-baseline gap-x-2.5')}>
      <time dateTime={license.expires_at} className={cx('nums', isStacked && left && 'leading-4.5')}>
        {formatDate(license.expires_at)}
      </time>
      {left && <span className={cx('text-xs text-warn', isStacked && 'leading-3.5')}>{left}</span>}
    </span>
  );
};

/** As little as says it: the day, or how near it is. */
export const ShortExpiry = ({ license }: { license: License }) => {
  const left = useDaysLeft(license);
  if (left) return <span className="text-warn">{left}</span>;
  return license.expires_at !== null && <span className="nums">{formatDate(license.expires_at)}</span>;
};
