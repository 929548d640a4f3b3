// Limits the size of the scripts that the dashboard loads at startup. Pages load their own scripts when opened.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const MAX_BYTES = 196_000;
const assets = join(import.meta.dirname, '../dist/assets');

const page = readFileSync(join(assets, 'index.html'), 'utf8');
const files = [...page.matchAll(/(?:src|href)="(\/[^"]+\.js)"/g)].map(([, path = '']) => path);
const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(join(assets, file))).length, 0);
console.log(`Initial script: ${(bytes / 1_000).toFixed(1)} kB gzipped (limit ${MAX_BYTES / 1_000} kB)`);
if (files.length === 0 || bytes > MAX_BYTES) process.exit(1);
