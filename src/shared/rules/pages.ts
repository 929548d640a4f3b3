/** The paths of the dashboard's pages. The compiler compares them with the routes in src/web/router.tsx. */
const PAGE_PATHS = [
  '/',
  '/login',
  '/register',
  '/forgot-password',
  '/reset-password',
  '/restore-email',
  '/verify-email',
  '/licenses',
  '/licenses/$id',
  '/licenses/import',
  '/customers',
  '/customers/$email',
  '/products',
  '/products/$code',
  '/purchases',
  '/purchases/$id',
  '/stores',
  '/stores/$id',
  '/keys',
  '/webhooks',
  '/webhooks/$id',
  '/billing',
  '/settings',
  '/settings/password',
  '/settings/two-factor',
  '/settings/sessions',
  '/settings/portal',
  '/settings/regions',
  '/settings/audit-log',
  '/settings/export',
  '/settings/delete',
  '/operator',
] as const;

export type PagePath = (typeof PAGE_PATHS)[number];

const PATTERN = new RegExp(`^(?:${PAGE_PATHS.join('|').replace(/\$\w+/g, '[^/]+')})$`);

/** Whether the dashboard has a page at the path. */
export const isPagePath = (path: string): boolean => PATTERN.test(path);
