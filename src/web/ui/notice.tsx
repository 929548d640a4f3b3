import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiError, errorMessage } from '../data/error.ts';
import { Button } from './button.tsx';

export const RequestId = ({ error }: { error: unknown }) =>
  error instanceof ApiError && error.requestId !== '' ? (
    <span className="block text-xs text-muted">
      Request <code className="select-all">{error.requestId}</code>
    </span>
  ) : null;

/** Replaces content that failed to load, with a button to try again. */
export const LoadError = ({ error, onRetry }: { error: unknown; onRetry: () => void }) => (
  <div role="alert" className="flex flex-col items-center gap-3 px-5 py-12 text-center">
    <CircleAlert aria-hidden className="size-5 text-bad" />
    <p>
      <span className="block font-medium">{errorMessage(error)}</span>
      <RequestId error={error} />
    </p>
    <Button size="sm" onClick={onRetry}>
      Try again
    </Button>
  </div>
);

const reveal = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' });

/** The error of a form, below its buttons. Scrolls into view in dialogs that are too long for the window. */
export const FormError = ({ error }: { error: unknown }) =>
  error ? (
    <div ref={reveal} role="alert" className="flex gap-2 rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <p className="min-w-0">
        {errorMessage(error)}
        <RequestId error={error} />
      </p>
    </div>
  ) : null;

/** Replaces an empty list, and explains what it will show and what to do next. */
export const Empty = ({
  icon,
  title,
  children,
  action,
}: {
  icon: ReactNode;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) => (
  <div className="flex flex-col items-center px-5 py-14 text-center">
    <span
      aria-hidden
      className="mb-3 grid size-10 place-items-center rounded-full bg-brass-soft text-brass [&_svg]:size-5"
    >
      {icon}
    </span>
    <p className="font-medium">{title}</p>
    {children && <p className="mt-1 max-w-md text-sm text-muted">{children}</p>}
    {action && <div className="mt-4">{action}</div>}
  </div>
);
