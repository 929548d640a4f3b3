import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ChevronsUpDown, LogOut, Monitor, Moon, Settings, Sun } from 'lucide-react';
import { OWN_PLAN } from '../../shared/rules/plans.ts';
import { accountQuery } from '../data/queries.ts';
import { capitalize } from '../lib/format.ts';
import { chooseTheme, useTheme } from '../lib/theme.ts';
import { Menu, MenuChoices, MenuItem, MenuSeparator } from '../ui/menu.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { useSignOut } from './sign-out.ts';

const THEMES = [
  { value: 'system', label: 'System', icon: <Monitor aria-hidden /> },
  { value: 'light', label: 'Light', icon: <Sun aria-hidden /> },
  { value: 'dark', label: 'Dark', icon: <Moon aria-hidden /> },
] as const;

export const AccountMenu = ({ onGo }: { onGo?: (() => void) | undefined }) => {
  const navigate = useNavigate();
  const { data: account } = useQuery(accountQuery);
  const theme = useTheme();
  const signOut = useSignOut();
  const openSettings = () => {
    onGo?.();
    void navigate({ to: '/settings' });
  };
  const trigger = (
    <button
      type="button"
      className="flex h-12 w-full min-w-0 items-center gap-2.5 rounded-lg px-2.5 text-left transition-colors hover:bg-line/50"
    >
      <span
        aria-hidden
        className="grid size-7 shrink-0 place-items-center rounded-full bg-brass-soft text-sm font-semibold text-brass uppercase"
      >
        {(account?.name ?? account?.email)?.charAt(0)}
      </span>
      <span className="min-w-0 flex-1">
        {account ? (
          <>
            <span className="block truncate text-sm font-medium">{account.name ?? account.email}</span>
            <span className="block truncate text-xs text-muted">
              {account.name || account.plan === OWN_PLAN ? account.email : `${capitalize(account.plan)} plan`}
            </span>
          </>
        ) : (
          <Skeleton className="h-3.5 w-24" />
        )}
      </span>
      <ChevronsUpDown aria-hidden className="size-4 shrink-0 text-muted" />
      <span className="sr-only">Account menu</span>
    </button>
  );
  return (
    <Menu trigger={trigger} align="start">
      <MenuItem icon={<Settings aria-hidden />} onSelect={openSettings}>
        Settings
      </MenuItem>
      <MenuSeparator />
      <MenuChoices label="Theme" value={theme} choices={[...THEMES]} onChoose={chooseTheme} />
      <MenuSeparator />
      <MenuItem icon={<LogOut aria-hidden />} onSelect={signOut}>
        Sign out
      </MenuItem>
    </Menu>
  );
};
