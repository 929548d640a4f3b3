import { getPath } from 'hono/utils/url';

const UNTIDY = /\/\/|.\/$/;

/** Returns the path of a URL as the routes spell it. A base URL that ends in a slash, joined with a path, has two. */
export const tidyPath = (request: Request): string => {
  const path = getPath(request);
  return UNTIDY.test(path) ? path.replaceAll(/\/{2,}/g, '/').replace(/(.)\/$/, '$1') : path;
};
