import { type ReactNode, useEffect } from 'react';

/** The head of every page; the browser's tab has the same title. */
export const Page = ({
  title,
  hint,
  actions,
  above,
  children,
}: {
  title: string;
  hint?: ReactNode;
  actions?: ReactNode;
  /** Where one came from. */
  above?: ReactNode;
  children: ReactNode;
}) => {
  useEffect(() => {
    document.title = `${title} · Latchkey`;
  }, [title]);
  return (
    <div className="mx-auto w-full max-w-[76rem] px-4 pt-6 pb-16 sm:px-8 sm:pt-8">
      {above && <div className="mb-2 text-sm text-muted">{above}</div>}
      <div className="mb-6 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0">
          <h1 tabIndex={-1} className="text-xl font-semibold tracking-tight break-words outline-none">
            {title}
          </h1>
          {hint && <p className="mt-0.5 max-w-2xl text-muted">{hint}</p>}
        </div>
        {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
      </div>
      <div className="grid gap-5">{children}</div>
    </div>
  );
};
