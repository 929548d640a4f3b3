import { Link, type LinkProps } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';

/** Sets the title of the browser tab. */
export const useTitle = (title: string) =>
  useEffect(() => {
    document.title = `${title} · Latchkey`;
  }, [title]);

/** The link from a detail page to its list, shown above the heading. */
export const UpLink = ({ to, name }: { to: NonNullable<LinkProps['to']>; name: string }) => (
  <Link to={to} className="-ml-1 inline-flex items-center gap-0.5 rounded-md hover:text-ink">
    <ChevronLeft aria-hidden className="size-4" />
    {name}
  </Link>
);

/** A page's heading and content. The title is also the title of the browser tab. */
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
  /** Replaces the title in the heading. */
  heading?: ReactNode;
  /** Shown next to the heading: a state, a copy button. */
  beside?: ReactNode;
  hint?: ReactNode;
  actions?: ReactNode;
  /** Shown above the heading: a link to the list. */
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
