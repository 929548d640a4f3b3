import { useNavigate } from '@tanstack/react-router';
import { BookText, Check, KeyRound, LogOut, Monitor, Moon, ScrollText, Sun, Webhook } from 'lucide-react';
import { chooseTheme, type Theme, useTheme } from '../../lib/theme.ts';
import { PAGES } from '../navigation.ts';
import { useSignOut } from '../sign-out.ts';
import type { Group, Item } from './item.ts';

const THEMES = [
  { theme: 'light', icon: <Sun aria-hidden /> },
  { theme: 'dark', icon: <Moon aria-hidden /> },
  { theme: 'system', icon: <Monitor aria-hidden /> },
] as const;

const themeItem = ({ theme, icon }: (typeof THEMES)[number], chosen: Theme): Item => ({
  id: `theme-${theme}`,
  name: `Theme: ${theme}`,
  keys: 'appearance color mode',
  icon,
  aside: theme === chosen && (
    <>
      <Check aria-hidden className="size-4 text-brass" />
      <span className="sr-only">chosen</span>
    </>
  ),
  run: () => chooseTheme(theme),
});

/** What can be done from everywhere. */
export const useCommands = (): Group[] => {
  const navigate = useNavigate();
  const theme = useTheme();
  const signOut = useSignOut();
  const create = { search: { create: true } } as const;
  const pages = PAGES.map(({ to, name, icon: Icon, keys }) => ({
    id: `page-${to}`,
    name,
    keys,
    icon: <Icon aria-hidden />,
    leads: true,
    run: () => void navigate({ to }),
  }));
  return [
    { name: 'Go to', items: pages },
    {
      name: 'Do',
      items: [
        {
          id: 'create-license',
          name: 'Create license',
          keys: 'new add issue',
          icon: <ScrollText aria-hidden />,
          leads: true,
          run: () => void navigate({ to: '/licenses', ...create }),
        },
        {
          id: 'create-key',
          name: 'Create API key',
          keys: 'new add secret token',
          icon: <KeyRound aria-hidden />,
          leads: true,
          run: () => void navigate({ to: '/keys', ...create }),
        },
        {
          id: 'add-webhook',
          name: 'Add webhook',
          keys: 'new create endpoint',
          icon: <Webhook aria-hidden />,
          leads: true,
          run: () => void navigate({ to: '/webhooks', ...create }),
        },
        ...THEMES.map((choice) => themeItem(choice, theme)),
        {
          id: 'docs',
          name: 'API reference',
          keys: 'docs documentation openapi help',
          icon: <BookText aria-hidden />,
          aside: 'Opens a new tab',
          run: () => void open('/docs', '_blank', 'noreferrer'),
        },
        {
          id: 'sign-out',
          name: 'Sign out',
          keys: 'log out logout leave',
          icon: <LogOut aria-hidden />,
          run: signOut,
        },
      ],
    },
  ];
};
