// The Worker's static assets: the dashboard, the OpenAPI document and its documentation page.
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';
import packageJson from '../package.json' with { type: 'json' };
import { app } from '../src/app.ts';
import { openApiDocument } from './openapi.ts';

const root = join(import.meta.dirname, '..');
const assets = join(root, 'dist/assets');
const docs = join(assets, 'docs');
const swaggerUi = join(root, 'node_modules/swagger-ui-dist');

export const buildAssets = async () => {
  // The dashboard names the client package of its own version. `npm run dev:web` sets this, too.
  process.env['VITE_CLIENT_VERSION'] = packageJson.version;
  await build({ configFile: join(root, 'src/web/vite.config.ts'), logLevel: 'warn' });
  await cp(join(root, 'scripts/docs'), docs, { recursive: true });
  for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js'])
    await cp(join(swaggerUi, file), join(docs, file));
  await writeFile(
    join(assets, 'openapi.json'),
    JSON.stringify(openApiDocument(app, packageJson.version), null, 2),
  );
};
