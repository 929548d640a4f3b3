import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { cx } from '../../ui/cx.ts';
import { Page } from '../../ui/page.tsx';

const SECTIONS: { to: NonNullable<LinkProps['to']>; name: string }[] = [
  { to: '/settings', name: 'Profile' },
  { to: '/settings/password', name: 'Password' },
  { to: '/settings/two-factor', name: 'Two-factor' },
  { to: '/settings/sessions', name: 'Sessions' },
  { to: '/settings/portal', name: 'Portal' },
  { to: '/settings/regions', name: 'Regions' },
  { to: '/settings/audit-log', name: 'Audit log' },
  { to: '/settings/export', name: 'Export' },
  { to: '/settings/delete', name: 'Delete account' },
];

/** A section of the settings, with links to the others. */
export const SettingsFrame = ({ section, children }: { section: string; children: ReactNode }) => (
  <Page title={`${section} settings`} heading="Settings">
    <div className="grid grid-cols-[minmax(0,1fr)] gap-5 lg:grid-cols-[11rem_minmax(0,1fr)] lg:gap-8">
      <nav aria-label="Settings" className="flex flex-wrap gap-1 lg:grid lg:content-start">
        {SECTIONS.map(({ to, name }) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ exact: true, includeSearch: false }}
            activeProps={{ className: 'bg-line/70 text-ink! font-medium' }}
            className={cx(
              'flex h-8.5 items-center rounded-lg px-2.5 text-muted transition-colors',
              'hover:bg-line/50 hover:text-ink',
            )}
          >
            {name}
          </Link>
        ))}
      </nav>
      <div className="grid grid-cols-[minmax(0,1fr)] content-start gap-5">{children}</div>
    </div>
  </Page>
);
