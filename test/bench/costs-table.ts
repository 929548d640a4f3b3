// `npm run costs`: writes the tables of docs/costs.md. With `--check`, fails if they aren't up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { costTables, readBenchmarks, withTables } from './costs.ts';

const docs = join(import.meta.dirname, '../../docs');
const file = join(docs, 'costs.md');
const page = readFileSync(file, 'utf8');
const written = withTables(
  page,
  costTables(readBenchmarks(readFileSync(join(docs, 'benchmarks.md'), 'utf8'))),
);
if (!process.argv.includes('--check')) writeFileSync(file, written);
else if (written !== page) {
  console.error('docs/costs.md doesn’t have what follows from docs/benchmarks.md: run npm run costs.');
  process.exitCode = 1;
}
