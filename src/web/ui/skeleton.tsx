import { cx } from './cx.ts';

/** A placeholder for content that is loading. `className` sets its size. */
export const Skeleton = ({ className }: { className?: string }) => (
  <span aria-hidden className={cx('block animate-pulse rounded-md bg-line', className ?? 'h-4 w-full')} />
);

/** Placeholder rows of a table that is loading. */
export const SkeletonRows = ({ rows = 6, columns }: { rows?: number; columns: number }) => (
  <>
    {Array.from({ length: rows }, (_, row) => (
      <tr key={row}>
        {Array.from({ length: columns }, (_, column) => (
          <td key={column} className="h-12 px-5">
            <Skeleton className={cx('h-3.5', column === 0 ? 'w-3/5' : 'w-2/5')} />
          </td>
        ))}
      </tr>
    ))}
  </>
);
