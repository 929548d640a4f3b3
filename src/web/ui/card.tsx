import type { ComponentProps, ReactNode } from 'react';
import { cx } from './cx.ts';

export const Card = ({ className, ...props }: ComponentProps<'section'>) => (
  <section
    {...props}
    className={cx('min-w-0 rounded-xl border border-line bg-surface shadow-card', className)}
  />
);

export const CardHeader = ({
  title,
  hint,
  actions,
}: {
  title: string;
  hint?: ReactNode;
  actions?: ReactNode;
}) => (
  <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-5 pt-4 pb-3">
    <div className="min-w-0">
      <h2 className="text-base font-semibold">{title}</h2>
      {hint && <p className="text-sm text-muted">{hint}</p>}
    </div>
    {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
  </div>
);

/** A list of names and values, side by side where there is room. */
export const Facts = ({ children }: { children: ReactNode }) => (
  <dl className="divide-y divide-line text-sm">{children}</dl>
);

export const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="grid grid-cols-[minmax(0,1fr)] gap-x-4 gap-y-0.5 px-5 py-2.5 sm:grid-cols-[9rem_minmax(0,1fr)]">
    <dt className="text-muted">{name}</dt>
    <dd className="min-w-0 break-words">{children}</dd>
  </div>
);
