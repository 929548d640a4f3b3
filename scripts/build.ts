// Builds the Worker's static assets unless they are up to date. Wrangler runs it before it bundles the Worker.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const STAMP = 'dist/assets.sha256';
/** What the assets are made of. npm writes the last file, which lists the installed packages. */
const SOURCES = ['src', 'scripts', 'package.json', 'node_modules/.package-lock.json'];
/** The client package is no asset. */
const NOT_SOURCES = new Set(['src/client', 'scripts/api-types']);
const ASSETS = 'dist/assets';

const filesIn = (path: string): string[] => {
  if (NOT_SOURCES.has(path) || !existsSync(join(root, path))) return [];
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path))
    .toSorted()
    .flatMap((name) => filesIn(`${path}/${name}`));
};

const hashOf = (...paths: string[]): string => {
  const hash = createHash('sha256').update(process.version);
  for (const file of paths.flatMap(filesIn)) {
    const content = readFileSync(join(root, file));
    hash.update(`${file}\n${content.length}\n`).update(content);
  }
  return hash.digest('hex');
};

const stampPath = join(root, STAMP);
const stamp = existsSync(stampPath) ? readFileSync(stampPath, 'utf8') : '';
const sources = hashOf(...SOURCES);

// The content decides, because times of files say nothing after a checkout.
if (stamp !== `${sources} ${hashOf(ASSETS)}`) {
  rmSync(stampPath, { force: true });
  const { buildAssets } = await import('./assets.ts');
  await buildAssets();
  writeFileSync(stampPath, `${sources} ${hashOf(ASSETS)}`);
}
