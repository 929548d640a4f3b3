import { createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import type { PagePath } from '../shared/rules/pages.ts';
import { accountQuery } from './data/queries.ts';
import { queryClient } from './data/query-client.ts';
import { signedInAccountId } from './data/session.ts';
import {
  auditSearch,
  billingSearch,
  createSearch,
  customersSearch,
  licensesSearch,
  purchasesSearch,
  webhookSearch,
} from './search.ts';
import { NotFound, PageError, PageSkeleton } from './shell/fallbacks.tsx';
import { Shell } from './shell/shell.tsx';
import { root, signedOutRoutes } from './signed-out.tsx';

// The dashboard's routes. Signed-out visitors are sent to the sign-in page, even from unknown URLs.

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  beforeLoad: ({ location }) => {
    if (signedInAccountId() === null) {
      throw redirect({ to: '/login', search: location.href === '/' ? {} : { next: location.href } });
    }
  },
  loader: () => void queryClient.prefetchQuery(accountQuery),
});

const home = createRoute({
  getParentRoute: () => shell,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/home/home.tsx'), 'Home'),
});

const licenses = createRoute({
  getParentRoute: () => shell,
  path: '/licenses',
  validateSearch: licensesSearch,
  component: lazyRouteComponent(() => import('./pages/licenses/licenses.tsx'), 'Licenses'),
});

const license = createRoute({
  getParentRoute: () => shell,
  path: '/licenses/$id',
  component: lazyRouteComponent(() => import('./pages/licenses/license.tsx'), 'LicensePage'),
});

const importLicenses = createRoute({
  getParentRoute: () => shell,
  path: '/licenses/import',
  component: lazyRouteComponent(() => import('./pages/import/import.tsx'), 'ImportPage'),
});

const customers = createRoute({
  getParentRoute: () => shell,
  path: '/customers',
  validateSearch: customersSearch,
  component: lazyRouteComponent(() => import('./pages/customers/customers.tsx'), 'Customers'),
});

const customer = createRoute({
  getParentRoute: () => shell,
  path: '/customers/$email',
  component: lazyRouteComponent(() => import('./pages/customers/customer.tsx'), 'CustomerPage'),
});

const products = createRoute({
  getParentRoute: () => shell,
  path: '/products',
  validateSearch: createSearch,
  component: lazyRouteComponent(() => import('./pages/products/products.tsx'), 'Products'),
});

const product = createRoute({
  getParentRoute: () => shell,
  path: '/products/$code',
  component: lazyRouteComponent(() => import('./pages/products/product.tsx'), 'ProductPage'),
});

const purchases = createRoute({
  getParentRoute: () => shell,
  path: '/purchases',
  validateSearch: purchasesSearch,
  component: lazyRouteComponent(() => import('./pages/purchases/purchases.tsx'), 'Purchases'),
});

const purchase = createRoute({
  getParentRoute: () => shell,
  path: '/purchases/$id',
  component: lazyRouteComponent(() => import('./pages/purchases/purchase.tsx'), 'PurchasePage'),
});

const stores = createRoute({
  getParentRoute: () => shell,
  path: '/stores',
  validateSearch: createSearch,
  component: lazyRouteComponent(() => import('./pages/stores/stores.tsx'), 'Stores'),
});

const store = createRoute({
  getParentRoute: () => shell,
  path: '/stores/$id',
  component: lazyRouteComponent(() => import('./pages/stores/store.tsx'), 'StorePage'),
});

const keys = createRoute({
  getParentRoute: () => shell,
  path: '/keys',
  validateSearch: createSearch,
  component: lazyRouteComponent(() => import('./pages/keys/keys.tsx'), 'Keys'),
});

const webhooks = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks',
  validateSearch: createSearch,
  component: lazyRouteComponent(() => import('./pages/webhooks/webhooks.tsx'), 'Webhooks'),
});

const webhook = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks/$id',
  validateSearch: webhookSearch,
  component: lazyRouteComponent(() => import('./pages/webhooks/webhook.tsx'), 'WebhookPage'),
});

const regions = createRoute({
  getParentRoute: () => shell,
  path: '/settings/regions',
  component: lazyRouteComponent(() => import('./pages/regions/regions.tsx'), 'RegionsPage'),
});

const portal = createRoute({
  getParentRoute: () => shell,
  path: '/settings/portal',
  component: lazyRouteComponent(() => import('./pages/portal/portal.tsx'), 'PortalSettingsPage'),
});

const billing = createRoute({
  getParentRoute: () => shell,
  path: '/billing',
  validateSearch: billingSearch,
  component: lazyRouteComponent(() => import('./pages/billing/billing.tsx'), 'BillingPage'),
});

const profile = createRoute({
  getParentRoute: () => shell,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/settings/profile.tsx'), 'ProfileSettings'),
});

const password = createRoute({
  getParentRoute: () => shell,
  path: '/settings/password',
  component: lazyRouteComponent(() => import('./pages/settings/password.tsx'), 'PasswordSettings'),
});

const twoFactor = createRoute({
  getParentRoute: () => shell,
  path: '/settings/two-factor',
  component: lazyRouteComponent(() => import('./pages/settings/two-factor.tsx'), 'TwoFactorSettings'),
});

const sessions = createRoute({
  getParentRoute: () => shell,
  path: '/settings/sessions',
  component: lazyRouteComponent(() => import('./pages/settings/sessions.tsx'), 'SessionSettings'),
});

const auditLog = createRoute({
  getParentRoute: () => shell,
  path: '/settings/audit-log',
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('./pages/settings/audit-log.tsx'), 'AuditLogSettings'),
});

const exportAccount = createRoute({
  getParentRoute: () => shell,
  path: '/settings/export',
  component: lazyRouteComponent(() => import('./pages/settings/export.tsx'), 'ExportSettings'),
});

const deleteAccount = createRoute({
  getParentRoute: () => shell,
  path: '/settings/delete',
  component: lazyRouteComponent(() => import('./pages/settings/delete.tsx'), 'DeleteSettings'),
});

const notFound = createRoute({ getParentRoute: () => shell, path: '$', component: NotFound });

export const router = createRouter({
  routeTree: root.addChildren([
    ...signedOutRoutes,
    shell.addChildren([
      home,
      licenses,
      license,
      importLicenses,
      customers,
      customer,
      products,
      product,
      purchases,
      purchase,
      stores,
      store,
      keys,
      webhooks,
      webhook,
      billing,
      profile,
      password,
      twoFactor,
      sessions,
      regions,
      portal,
      auditLog,
      exportAccount,
      deleteAccount,
      notFound,
    ]),
  ]),
  defaultPreload: 'intent',
  defaultPendingComponent: PageSkeleton,
  defaultPendingMs: 150,
  defaultErrorComponent: PageError,
  scrollRestoration: true,
});

/** Fails to compile if the Worker doesn't know a page's path, or knows one without a page. */
type RouterPath = Exclude<keyof typeof router.routesByPath, '/$'>;
true satisfies [PagePath, RouterPath] extends [RouterPath, PagePath] ? true : never;

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
