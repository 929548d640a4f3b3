import type { ComponentProps, ReactNode } from 'react';
import { cx } from './cx.ts';

/** A link that covers its row, which has the class `relative`. */
export const ROW_LINK =
  'outline-none after:absolute after:inset-0 focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-brass-line';

/** A table that scrolls sideways when it is wider than the page. `label` names what it lists. */
export const Table = ({ label, head, children }: { label: string; head: ReactNode; children: ReactNode }) => (
  <div className="relative overflow-x-auto" tabIndex={0} role="region" aria-label={label}>
    <table className="w-full border-collapse text-sm">
      <caption className="sr-only">{label}</caption>
      <thead>
        <tr className="border-b border-line text-left text-muted">{head}</tr>
      </thead>
      <tbody className="divide-y divide-line">{children}</tbody>
    </table>
  </div>
);

export const Th = ({ className, ...props }: ComponentProps<'th'>) => (
  <th
    scope="col"
    {...props}
    className={cx('h-9 px-3 text-xs font-medium whitespace-nowrap first:pl-5 last:pr-5', className)}
  />
);

export const Td = ({ className, ...props }: ComponentProps<'td'>) => (
  <td {...props} className={cx('h-12 px-3 py-2 first:pl-5 last:pr-5', className)} />
);

export const Tr = ({ className, ...props }: ComponentProps<'tr'>) => (
  <tr {...props} className={cx('transition-colors hover:bg-hover', className)} />
);
