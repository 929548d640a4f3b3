import type { ReactNode } from 'react';
import { useTitle } from '../lib/title.ts';

/** The head of every page; the browser's tab has the same title. */
export const Page = ({
  title,
  heading = title,
  beside,
  hint,
  actions,
  above,
  children,
}: {
  title: string;
  /** The title as it is set, where it is not plain words. */
  heading?: ReactNode;
  /** On the heading's line, though no part of it: a state, a copy button. */
  beside?: ReactNode;
  hint?: ReactNode;
  actions?: ReactNode;
  /** Where one came from. */
  above?: ReactNode;
  children: ReactNode;
}) => {
  useTitle(title);
  return (
    <div className="mx-auto w-full max-w-[76rem] px-4 pt-6 pb-16 sm:px-8 sm:pt-8">
      {above && <div className="mb-2 text-sm text-muted">{above}</div>}
      <div className="mb-6 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <h1
              tabIndex={-1}
              className="min-w-0 text-xl font-semibold tracking-tight break-words outline-none"
            >
              {heading}
            </h1>
            {beside}
          </div>
          {hint && <p className="mt-0.5 max-w-2xl text-muted">{hint}</p>}
        </div>
        {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
      </div>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5">{children}</div>
    </div>
  );
};
