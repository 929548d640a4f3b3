import { Link, type LinkProps } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';

/** To the list that a page's thing is one of. */
export const UpLink = ({ to, name }: { to: NonNullable<LinkProps['to']>; name: string }) => (
  <Link to={to} className="-ml-1 inline-flex items-center gap-0.5 rounded-md hover:text-ink">
    <ChevronLeft aria-hidden className="size-4" />
    {name}
  </Link>
);
