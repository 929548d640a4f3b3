import { useQuery } from '@tanstack/react-query';
import type { LinkProps } from '@tanstack/react-router';
import {
  CreditCard,
  Gauge,
  KeyRound,
  type LucideIcon,
  Package,
  ScrollText,
  ShoppingBag,
  Store,
  Users,
  Webhook,
} from 'lucide-react';
import { OWN_PLAN } from '../../shared/rules/plans.ts';
import { accountQuery } from '../data/queries.ts';

interface PageLink {
  to: NonNullable<LinkProps['to']>;
  name: string;
  icon: LucideIcon;
  keywords: string;
}

const PAGES: PageLink[] = [
  { to: '/', name: 'Home', icon: Gauge, keywords: 'overview usage dashboard' },
  { to: '/licenses', name: 'Licenses', icon: ScrollText, keywords: 'license' },
  { to: '/customers', name: 'Customers', icon: Users, keywords: 'people users buyers erase' },
  { to: '/products', name: 'Products', icon: Package, keywords: 'terms seats entitlements offline' },
  { to: '/purchases', name: 'Purchases', icon: ShoppingBag, keywords: 'orders sales refunds' },
  { to: '/stores', name: 'Stores', icon: Store, keywords: 'offers stripe paddle gumroad checkout sell' },
  { to: '/keys', name: 'API keys', icon: KeyRound, keywords: 'secret token' },
  { to: '/webhooks', name: 'Webhooks', icon: Webhook, keywords: 'endpoints events deliveries' },
  { to: '/billing', name: 'Billing', icon: CreditCard, keywords: 'plan payments invoice subscription' },
];

/** Returns the pages for the account. Nothing is billed where no plans are sold. */
export const usePages = (): PageLink[] => {
  const { data: account } = useQuery(accountQuery);
  return account?.plan === OWN_PLAN ? PAGES.filter(({ to }) => to !== '/billing') : PAGES;
};
