import { useNavigate } from '@tanstack/react-router';
import {
  BookText,
  Check,
  KeyRound,
  LogOut,
  Monitor,
  Moon,
  Package,
  ScrollText,
  Settings,
  Sun,
  Webhook,
} from 'lucide-react';
import { chooseTheme, type Theme, useTheme } from '../../lib/theme.ts';
import { usePages } from '../navigation.ts';
import { useSignOut } from '../sign-out.ts';
import type { Group, Item } from './ranking.ts';

const THEMES = [
  { theme: 'light', icon: <Sun aria-hidden /> },
  { theme: 'dark', icon: <Moon aria-hidden /> },
  { theme: 'system', icon: <Monitor aria-hidden /> },
] as const;

const themeItem = ({ theme, icon }: (typeof THEMES)[number], chosen: Theme): Item => ({
  id: `theme-${theme}`,
  name: `Theme: ${theme}`,
  keywords: 'appearance color mode',
  icon,
  aside: theme === chosen && (
    <>
      <Check aria-hidden className="size-4 text-brass" />
      <span className="sr-only">current</span>
    </>
  ),
  run: () => chooseTheme(theme),
});

/** The pages, and the actions that are available on every page. */
export const useCommands = (): Group[] => {
  const navigate = useNavigate();
  const theme = useTheme();
  const signOut = useSignOut();
  const create = { search: { create: true } } as const;
  const pages = usePages().map(({ to, name, icon: Icon, keywords }) => ({
    id: `page-${to}`,
    name,
    keywords,
    icon: <Icon aria-hidden />,
    opensPage: true,
    run: () => void navigate({ to }),
  }));
  const settings = {
    id: 'page-/settings',
    name: 'Settings',
    keywords: 'account profile password email sessions audit log',
    icon: <Settings aria-hidden />,
    opensPage: true,
    run: () => void navigate({ to: '/settings' }),
  };
  return [
    { name: 'Go to', items: [...pages, settings] },
    {
      name: 'Actions',
      items: [
        {
          id: 'create-license',
          name: 'Create license',
          keywords: 'new add issue',
          icon: <ScrollText aria-hidden />,
          opensPage: true,
          run: () => void navigate({ to: '/licenses', ...create }),
        },
        {
          id: 'create-product',
          name: 'Create product',
          keywords: 'new add terms seats',
          icon: <Package aria-hidden />,
          opensPage: true,
          run: () => void navigate({ to: '/products', ...create }),
        },
        {
          id: 'create-key',
          name: 'Create API key',
          keywords: 'new add secret token',
          icon: <KeyRound aria-hidden />,
          opensPage: true,
          run: () => void navigate({ to: '/keys', ...create }),
        },
        {
          id: 'add-webhook',
          name: 'Add webhook',
          keywords: 'new create endpoint',
          icon: <Webhook aria-hidden />,
          opensPage: true,
          run: () => void navigate({ to: '/webhooks', ...create }),
        },
        ...THEMES.map((choice) => themeItem(choice, theme)),
        {
          id: 'docs',
          name: 'Guides and API reference',
          keywords: 'docs documentation openapi help',
          icon: <BookText aria-hidden />,
          aside: 'Opens in a new tab',
          run: () => void open('/docs', '_blank', 'noreferrer'),
        },
        {
          id: 'sign-out',
          name: 'Sign out',
          keywords: 'log out logout leave',
          icon: <LogOut aria-hidden />,
          run: signOut,
        },
      ],
    },
  ];
};
