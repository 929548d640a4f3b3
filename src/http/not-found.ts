import type { Context, Hono } from 'hono';
import { AppError } from '../shared/app-error.ts';
import type { AppEnv } from './context.ts';
import { answerError } from './errors.ts';

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

/** An unknown path is 404; a known one called with another method is 405 and says which would do. */
export const notFoundIn = (app: Hono<AppEnv>) => {
  let routes: ReturnType<typeof routesOf> | undefined;
  return (c: Context<AppEnv>) => {
    routes ??= routesOf(app);
    const matching = routes.filter(({ pattern }) => pattern.test(c.req.path));
    // A path that is a route's own, letter by letter, is not another route's parameter.
    const exact = matching.filter(({ path }) => path === c.req.path);
    const allowed = (exact.length > 0 ? exact : matching).flatMap(({ methods }) => [...methods]);
    return answerError(
      c,
      allowed.length === 0
        ? new AppError('not_found')
        : new AppError('method_not_allowed', {
            headers: { Allow: [...new Set(allowed)].toSorted().join(', ') },
          }),
    );
  };
};
