import {
  type ComponentProps,
  type FormEvent,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { ApiError, errorMessage } from '../data/error.ts';
import { cx } from '../ui/cx.ts';

// What the page is made of. The dashboard's components would bring its router.

const VARIANTS = {
  solid: 'border-transparent bg-accent text-on-accent hover:opacity-90',
  outline: 'border-line-strong bg-surface text-ink shadow-card hover:bg-hover',
  quiet: 'border-transparent text-muted hover:bg-hover hover:text-ink',
  danger: 'border-transparent bg-bad-solid text-white hover:opacity-90',
};

const buttonClass = (variant: keyof typeof VARIANTS) =>
  cx(
    'inline-flex min-h-9 items-center justify-center gap-2 rounded-lg border px-3.5 py-1.5 text-center text-base font-medium transition-colors disabled:opacity-60',
    VARIANTS[variant],
  );

export const Button = ({
  variant = 'outline',
  isBusy = false,
  className,
  onClick,
  ...props
}: ComponentProps<'button'> & { variant?: keyof typeof VARIANTS; isBusy?: boolean }) => (
  <button
    type="button"
    {...props}
    aria-disabled={isBusy || undefined}
    aria-busy={isBusy || undefined}
    onClick={isBusy ? (event) => event.preventDefault() : onClick}
    className={cx(buttonClass(variant), isBusy && 'animate-pulse', className)}
  />
);

export const LinkButton = ({ children, ...props }: ComponentProps<'a'>) => (
  <a {...props} className={buttonClass('outline')}>
    {children}
  </a>
);

export const Card = ({ title, children }: { title?: string; children: ReactNode }) => (
  <section className="grid gap-4 rounded-xl border border-line bg-surface p-5 shadow-card sm:p-6">
    {title && <h2 className="text-lg font-semibold">{title}</h2>}
    {children}
  </section>
);

/** Says how something went. Screen readers hear it when it appears. */
export const Notice = ({ tone, children }: { tone: 'good' | 'bad'; children: ReactNode }) => (
  <p
    role={tone === 'bad' ? 'alert' : 'status'}
    className={cx(
      'rounded-lg px-3 py-2 text-base',
      tone === 'bad' ? 'bg-bad-soft text-bad' : 'bg-good-soft text-good',
    )}
  >
    {children}
  </p>
);

/**
 * Takes the focus of a button in it that is gone once it `shows` something else. Otherwise, the next key press would begin at the
 * top of the page.
 */
export const Swap = ({ shows, className, ...props }: ComponentProps<'div'> & { shows: unknown }) => {
  const ref = useRef<HTMLDivElement>(null);
  const before = useRef(shows);
  useEffect(() => {
    if (before.current === shows) return;
    before.current = shows;
    if (document.activeElement === document.body) ref.current?.focus({ preventScroll: true });
  }, [shows]);
  return <div {...props} ref={ref} tabIndex={-1} className={cx('outline-none', className)} />;
};

/** What a failure means here, where its code says more than its message. */
const TEXTS: Record<string, string> = {
  invalid_token: 'This link or code has expired or was already used. Ask for another one.',
  no_seat: 'All seats are taken. Release one first.',
};

const errorText = (error: unknown): string => {
  if (!(error instanceof ApiError)) return errorMessage(error);
  const [detail] = error.details;
  return TEXTS[error.code] ?? (detail ? `That isn’t valid: ${detail.message}.` : error.message);
};

/** Something that a person does, one at a time. */
export const useAction = <Input extends unknown[]>(act: (...input: Input) => Promise<void>) => {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async (...input: Input) => {
    if (isBusy) return;
    setBusy(true);
    setError(null);
    try {
      await act(...input);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return {
    isBusy,
    run: (...input: Input) => void run(...input),
    failure: error ? <Notice tone="bad">{errorText(error)}</Notice> : null,
  };
};

export const Field = ({
  label,
  hint,
  ...props
}: ComponentProps<'input'> & { label: string; hint?: string }) => {
  const id = useId();
  return (
    <div className="grid gap-1.5">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      <input
        required
        {...props}
        id={id}
        aria-describedby={hint ? `${id}-hint` : undefined}
        className="h-10 w-full min-w-0 rounded-lg border border-line-strong bg-surface px-3 text-lg text-ink hover:border-muted"
      />
      {hint && (
        <p id={`${id}-hint`} className="text-sm text-muted">
          {hint}
        </p>
      )}
    </div>
  );
};

/** A form whose fields arrive by name, as they were typed. */
export const Form = ({
  onSend,
  children,
}: {
  onSend: (values: Record<string, string>) => void;
  children: ReactNode;
}) => {
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const values: Record<string, string> = {};
    for (const [name, value] of new FormData(event.currentTarget))
      if (typeof value === 'string') values[name] = value.trim();
    onSend(values);
  };
  return (
    <form onSubmit={onSubmit} className="grid gap-4">
      {children}
    </form>
  );
};

export const date = (iso: string): string =>
  new Date(iso).toLocaleDateString('en-US', {
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    // A date without a time is a day in UTC.
    ...(iso.length === 10 && { timeZone: 'UTC' }),
  });

export const dateTime = (iso: string): string =>
  new Date(iso).toLocaleString('en-US', { dateStyle: 'medium', timeStyle: 'short' });
