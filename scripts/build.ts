// Makes what the Worker serves as files. Wrangler runs it before every bundle.
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import packageJson from '../package.json' with { type: 'json' };
import { app } from '../src/app.ts';
import { openApiDocument } from './openapi.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const assets = join(root, 'dist/assets');
const docs = join(assets, 'docs');
const swaggerUi = join(root, 'node_modules/swagger-ui-dist');

await mkdir(assets, { recursive: true });
await rm(docs, { recursive: true, force: true });
await cp(join(root, 'scripts/docs'), docs, { recursive: true });
for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js'])
  await cp(join(swaggerUi, file), join(docs, file));
await writeFile(
  join(assets, 'openapi.json'),
  JSON.stringify(openApiDocument(app, packageJson.version), null, 2),
);
