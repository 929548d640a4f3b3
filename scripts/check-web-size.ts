// Limits the size of the scripts that the dashboard and the portal load at startup. The dashboard's pages load their own scripts
// when opened, and the portal has no other.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const MAX_BYTES = { index: 196_000, portal: 90_000 };
/** A browser loads many small files more slowly than a few: see src/web/vite.config.ts. */
const MAX_FILES = 8;
const assets = join(import.meta.dirname, '../dist/assets');

const sizeOf = (name: string): number => {
  const page = readFileSync(join(assets, `${name}.html`), 'utf8');
  const files = [...page.matchAll(/(?:src|href)="(\/[^"]+\.js)"/g)].map(([, path = '']) => path);
  if (files.length === 0 || files.length > MAX_FILES)
    throw new Error(`${name}.html loads ${files.length} scripts, of 1 to ${MAX_FILES}.`);
  return files.reduce((sum, file) => sum + gzipSync(readFileSync(join(assets, file))).length, 0);
};

const kilobytes = (bytes: number) => (bytes / 1_000).toFixed(1);
const sizes = { index: sizeOf('index'), portal: sizeOf('portal') };
console.log(
  `Initial script: ${kilobytes(sizes.index)} kB gzipped (limit ${MAX_BYTES.index / 1_000} kB), of the portal ${kilobytes(sizes.portal)} kB (limit ${MAX_BYTES.portal / 1_000} kB)`,
);
if (sizes.index > MAX_BYTES.index || sizes.portal > MAX_BYTES.portal) process.exit(1);
