// The Worker's static assets: the dashboard, the OpenAPI document, the guides and the API reference.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';
import packageJson from '../package.json' with { type: 'json' };
import { app } from '../src/app.ts';
import { buildGuides } from './guides/site.ts';
import { documentedRoutes, openApiDocument } from './openapi.ts';
import { referencePages } from './reference/pages.ts';

const root = join(import.meta.dirname, '..');
const assets = join(root, 'dist/assets');

export const buildAssets = async () => {
  // The dashboard names the client package of its own version. `npm run dev:web` sets this, too.
  process.env['VITE_CLIENT_VERSION'] = packageJson.version;
  await build({ configFile: join(root, 'src/web/vite.config.ts'), logLevel: 'warn' });
  const document = openApiDocument(app, packageJson.version);
  await writeFile(join(assets, 'openapi.json'), JSON.stringify(document, null, 2));
  await buildGuides(assets, referencePages(document, documentedRoutes(app)));
};
