/** The keyhole logo. */
export const Logo = ({ className = 'size-7' }: { className?: string }) => (
  <svg viewBox="0 0 32 32" aria-hidden className={className}>
    <rect width="32" height="32" rx="8" className="fill-ink" />
    <path
      d="M16 6.5a5.5 5.5 0 0 0-2.4 10.45L12 25.5h8l-1.6-8.55A5.5 5.5 0 0 0 16 6.5Z"
      className="fill-[light-dark(#e0a84a,#8a5a0c)]"
    />
  </svg>
);
