import type { Context, Hono } from 'hono';
import { AppError } from '../shared/app-error.ts';
import { isPagePath } from '../shared/rules/pages.ts';
import type { AppEnv } from './context.ts';
import { errorResponse } from './errors.ts';

const pathPattern = (path: string) =>
  new RegExp(
    `^${path
      .replaceAll('.', '\\.')
      .replace(/:[^/]+/g, '[^/]+')
      .replace('*', '.*')}$`,
  );

const routesOf = (app: Hono<AppEnv>) => {
  const methodsByPath = new Map<string, Set<string>>();
  for (const { method, path } of app.routes) {
    if (method === 'ALL') continue;
    const methods = methodsByPath.get(path) ?? new Set();
    methods.add(method);
    methodsByPath.set(path, methods);
  }
  return [...methodsByPath].map(([path, methods]) => ({ path, pattern: pathPattern(path), methods }));
};

/** Returns a handler that answers 404 for an unknown path, and 405 with `Allow` for a known path. */
export const createNotFoundHandler = (app: Hono<AppEnv>) => {
  let routes: ReturnType<typeof routesOf> | undefined;
  return (c: Context<AppEnv>) => {
    routes ??= routesOf(app);
    const matching = routes.filter(({ pattern }) => pattern.test(c.req.path));
    // A literal path takes precedence over a pattern: `/verify` isn't an `/:id`.
    const exact = matching.filter(({ path }) => path === c.req.path);
    const ofRoutes = (exact.length > 0 ? exact : matching).flatMap(({ methods }) => [...methods]);
    // The dashboard's pages have no routes.
    const allowed = ofRoutes.length === 0 && isPagePath(c.req.path) ? ['GET'] : ofRoutes;
    return errorResponse(
      c,
      allowed.length === 0
        ? new AppError('not_found')
        : new AppError('method_not_allowed', {
            headers: { Allow: [...new Set(allowed)].toSorted().join(', ') },
          }),
    );
  };
};
