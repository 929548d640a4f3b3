import { Link, type LinkProps } from '@tanstack/react-router';
import type { ComponentProps, ReactNode } from 'react';
import { cx } from './cx.ts';
import { Tip } from './tip.tsx';

const VARIANTS = {
  solid: 'border-transparent bg-ink text-canvas hover:bg-ink/85',
  outline: 'border-line-strong bg-surface text-ink shadow-card hover:bg-hover',
  quiet: 'border-transparent text-muted hover:bg-hover hover:text-ink',
  danger: 'border-transparent bg-bad-solid text-white hover:bg-bad-solid/90',
  'danger-outline': 'border-line-strong bg-surface text-bad shadow-card hover:bg-bad-soft',
};
const SIZES = { sm: 'h-8 gap-1.5 px-2.5 text-sm', md: 'h-9 gap-2 px-3.5 text-base' };

interface ButtonStyle {
  variant?: keyof typeof VARIANTS;
  size?: keyof typeof SIZES;
}

export const buttonClass = ({ variant = 'outline', size = 'md' }: ButtonStyle, className?: string) =>
  cx(
    'inline-flex shrink-0 items-center justify-center rounded-lg border font-medium whitespace-nowrap transition-colors select-none',
    'disabled:cursor-not-allowed disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0',
    VARIANTS[variant],
    SIZES[size],
    className,
  );

/** A busy button ignores clicks but keeps its focus and width. */
export const Button = ({
  variant,
  size,
  isBusy = false,
  className,
  children,
  onClick,
  ...props
}: ComponentProps<'button'> & ButtonStyle & { isBusy?: boolean }) => (
  <button
    type="button"
    {...props}
    aria-disabled={isBusy || undefined}
    aria-busy={isBusy || undefined}
    onClick={isBusy ? (event) => event.preventDefault() : onClick}
    className={buttonClass(
      { ...(variant && { variant }), ...(size && { size }) },
      cx(isBusy && 'animate-pulse', className),
    )}
  >
    {children}
  </button>
);

/** A button that is only an icon. Its label is its tooltip and its accessible name. */
export const IconButton = ({ label, className, ...props }: ComponentProps<'button'> & { label: string }) => (
  <Tip text={label}>
    <button
      type="button"
      aria-label={label}
      {...props}
      className={cx(
        'inline-flex size-8 shrink-0 items-center justify-center rounded-md text-muted transition-colors hover:bg-hover hover:text-ink disabled:opacity-50 [&_svg]:size-4',
        className,
      )}
    />
  </Tip>
);

export const ButtonLink = ({
  variant,
  size,
  className,
  children,
  ...props
}: LinkProps & ButtonStyle & { className?: string; children: ReactNode }) => (
  <Link {...props} className={buttonClass({ ...(variant && { variant }), ...(size && { size }) }, className)}>
    {children}
  </Link>
);
