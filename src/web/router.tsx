import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { LICENSE_STATES, type LicenseState } from './data/license-states.ts';
import { queryClient } from './data/query-client.ts';
import { accountQuery } from './data/queries.ts';
import { signedInAs } from './data/session.ts';
import { NotFound, PageFault } from './shell/faults.tsx';
import { Shell } from './shell/shell.tsx';
import { PageSkeleton } from './shell/page-skeleton.tsx';

// Every address of the dashboard. What is in a search is what can be shared: filters, tabs, the open item.

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
const oneOf = <T extends string>(values: readonly T[], value: unknown): T | undefined =>
  values.find((known) => known === value);

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

/** Only to places of this dashboard, whatever the address says. */
const localPath = (value: unknown): string | undefined => {
  const path = text(value);
  return path && /^\/(?![/\\])/.test(path) ? path : undefined;
};

const signInSearch = (search: Record<string, unknown>): { next?: string; lost?: boolean } => {
  const next = localPath(search['next']);
  return { ...(next && { next }), ...(search['lost'] === true && { lost: true }) };
};

const passSignedIn = ({ search }: { search: { next?: string } }) => {
  if (signedInAs() !== null) throw redirect({ href: search.next ?? '/' });
};

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: signInSearch,
  beforeLoad: passSignedIn,
  component: lazyRouteComponent(() => import('./pages/sign-in/login.tsx'), 'Login'),
});

const register = createRoute({
  getParentRoute: () => root,
  path: '/register',
  validateSearch: signInSearch,
  beforeLoad: passSignedIn,
  component: lazyRouteComponent(() => import('./pages/sign-in/register.tsx'), 'Register'),
});

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  beforeLoad: ({ location }) => {
    if (signedInAs() === null) {
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
  validateSearch: (search): { q?: string; status?: LicenseState; create?: boolean } => {
    // The router reads digits as a number.
    const q = typeof search['q'] === 'number' ? `${search['q']}` : text(search['q']);
    const status = oneOf(LICENSE_STATES, search['status']);
    return { ...(q && { q }), ...(status && { status }), ...(search['create'] === true && { create: true }) };
  },
  component: lazyRouteComponent(() => import('./pages/licenses/licenses.tsx'), 'Licenses'),
});

const license = createRoute({
  getParentRoute: () => shell,
  path: '/licenses/$id',
  component: lazyRouteComponent(() => import('./pages/licenses/license.tsx'), 'LicensePage'),
});

const keys = createRoute({
  getParentRoute: () => shell,
  path: '/keys',
  validateSearch: (search): { create?: boolean } => (search['create'] === true ? { create: true } : {}),
  component: lazyRouteComponent(() => import('./pages/keys/keys.tsx'), 'Keys'),
});

const webhooks = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks',
  validateSearch: (search): { create?: boolean } => (search['create'] === true ? { create: true } : {}),
  component: lazyRouteComponent(() => import('./pages/webhooks/webhooks.tsx'), 'Webhooks'),
});

const webhook = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks/$id',
  validateSearch: (search): { delivery?: string; tab?: 'deliveries' | 'settings' } => {
    const delivery = text(search['delivery']);
    const tab = oneOf(['deliveries', 'settings'] as const, search['tab']);
    return { ...(delivery && { delivery }), ...(tab && { tab }) };
  },
  component: lazyRouteComponent(() => import('./pages/webhooks/webhook.tsx'), 'WebhookPage'),
});

const billing = createRoute({
  getParentRoute: () => shell,
  path: '/billing',
  validateSearch: (search): { checkout?: 'done' | 'cancelled' } => {
    const checkout = oneOf(['done', 'cancelled'] as const, search['checkout']);
    return checkout ? { checkout } : {};
  },
  component: lazyRouteComponent(() => import('./pages/billing/billing.tsx'), 'BillingPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    login,
    register,
    shell.addChildren([home, licenses, license, keys, webhooks, webhook, billing]),
  ]),
  defaultPreload: 'intent',
  defaultPendingComponent: PageSkeleton,
  defaultPendingMs: 150,
  defaultErrorComponent: PageFault,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
