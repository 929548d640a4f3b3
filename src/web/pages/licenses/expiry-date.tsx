import { isoDate } from '../../../shared/rules/dates.ts';
import type { LicenseBody } from '../../data/queries.ts';
import { formatDate, plural } from '../../lib/format.ts';
import { cx } from '../../ui/cx.ts';
import { useNow } from '../../ui/time.tsx';
import { daysBetween } from './dates.ts';

const SOON_DAYS = 14;

const useDaysLeft = ({ status, expires_at }: LicenseBody): string | null => {
  const today = isoDate(useNow());
  if (expires_at === null || status !== 'active') return null;
  const days = daysBetween(today, expires_at);
  if (days > SOON_DAYS) return null;
  return days > 0 ? `${plural(days, 'day')} left` : 'Last day';
};

/** The expiry date, with the days left when they are few. */
export const ExpiryDate = ({
  license,
  isStacked = false,
}: {
  license: LicenseBody;
  /** Puts the days left below the date, for table rows. */
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

/** The days left when they are few, otherwise the date. */
export const ShortExpiry = ({ license }: { license: LicenseBody }) => {
  const left = useDaysLeft(license);
  if (left) return <span className="text-warn">{left}</span>;
  return license.expires_at !== null && <span className="nums">{formatDate(license.expires_at)}</span>;
};
