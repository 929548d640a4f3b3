import type { LinkProps } from '@tanstack/react-router';
import { CreditCard, Gauge, KeyRound, type LucideIcon, ScrollText, Webhook } from 'lucide-react';

export const PAGES: { to: NonNullable<LinkProps['to']>; name: string; icon: LucideIcon; keys: string }[] = [
  { to: '/', name: 'Home', icon: Gauge, keys: 'overview usage dashboard' },
  { to: '/licenses', name: 'Licenses', icon: ScrollText, keys: 'license customers' },
  { to: '/keys', name: 'API keys', icon: KeyRound, keys: 'secret token' },
  { to: '/webhooks', name: 'Webhooks', icon: Webhook, keys: 'endpoints events deliveries' },
  { to: '/billing', name: 'Billing', icon: CreditCard, keys: 'plan payments invoice subscription' },
];
