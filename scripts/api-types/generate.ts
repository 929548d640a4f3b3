// Writes src/client/api/schema.ts, the types of the OpenAPI document, which git ignores. This folder has a package.json
// because openapi-typescript needs a TypeScript of its own.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenAPI3 } from 'openapi-typescript';
import { buildIfChanged } from '../up-to-date.ts';

interface Response {
  description: string;
  headers?: unknown;
  content: { 'application/json': { schema: { $ref: string } } };
}

const FILE = 'src/client/api/schema.ts';
const path = join(import.meta.dirname, '../..', FILE);
const HEADER = '// Generated from the OpenAPI document by `npm run types`.\n\n';

/** All errors have the same body, so one `default` response takes the place of a response per status. */
const mergeErrors = (document: OpenAPI3): OpenAPI3 => {
  const paths = document.paths as Record<string, Record<string, { responses: Record<string, Response> }>>;
  for (const { responses } of Object.values(paths).flatMap((path) => Object.values(path))) {
    for (const [status, response] of Object.entries(responses)) {
      delete response.headers;
      if (response.content['application/json']?.schema.$ref !== '#/components/schemas/Error') continue;
      delete responses[status];
      responses['default'] = { ...response, description: 'The call failed.' };
    }
  }
  return document;
};

await buildIfChanged({
  to: FILE,
  sources: ['src', 'scripts', 'package.json'],
  build: async () => {
    // Loading the service's routes and the compiler takes seconds.
    const [{ default: openapiTypes, astToString }, { app }, { openApiDocument }] = await Promise.all([
      import('openapi-typescript'),
      import('../../src/app.ts'),
      import('../openapi.ts'),
    ]);
    const document = mergeErrors(openApiDocument(app, '') as unknown as OpenAPI3);
    const types = HEADER + astToString(await openapiTypes(document));
    // Editors, the compiler, and `npm run dev` look at the file again once it is written.
    if (!existsSync(path) || readFileSync(path, 'utf8') !== types) writeFileSync(path, types);
  },
});
