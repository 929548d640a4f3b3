import { formatCount } from '../lib/format.ts';
import { cx } from './cx.ts';
import { Skeleton } from './skeleton.tsx';

/** A number and its name, inside a `dl`. */
export const Figure = ({
  name,
  value,
  isBad = false,
}: {
  name: string;
  value: number | undefined;
  isBad?: boolean;
}) => (
  <div>
    <dt className="text-xs text-muted">{name}</dt>
    <dd className={cx('nums flex h-7 items-center text-lg font-semibold', isBad && 'text-bad')}>
      {value === undefined ? <Skeleton className="h-4 w-10" /> : formatCount(value)}
    </dd>
  </div>
);
