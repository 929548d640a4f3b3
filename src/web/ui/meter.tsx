import { formatCount } from '../lib/format.ts';
import { cx } from './cx.ts';

const WARN_FROM = 0.8;

const toneOf = (share: number) => (share >= 1 ? 'bg-bad' : share >= WARN_FROM ? 'bg-warn' : 'bg-brass-line');

/** A bar that shows how much of a limit is used. */
export const Meter = ({
  label,
  used,
  limit,
  isGoodWhenFull = false,
  format = formatCount,
}: {
  label: string;
  used: number;
  limit: number;
  /** Whether it is what the limit is for, as with seats that somebody has bought. */
  isGoodWhenFull?: boolean;
  format?: (value: number) => string;
}) => {
  const share = Math.min(1, used / limit);
  return (
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={limit}
      aria-valuenow={Math.min(used, limit)}
      aria-valuetext={`${format(used)} of ${format(limit)}`}
      className="h-1.5 overflow-hidden rounded-full bg-line"
    >
      <div
        className={cx('h-full rounded-full', isGoodWhenFull ? 'bg-brass-line' : toneOf(share))}
        style={{ width: `${share * 100}%` }}
      />
    </div>
  );
};
