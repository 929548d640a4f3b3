import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrationProblem } from './trigger-form.ts';

// A migration that rebuilds a table can lose rows, so it must be reviewed and contain this line.
const REVIEWED = '-- reviewed: loses nothing';
const DANGEROUS = /\bDROP\s+TABLE\b|\bforeign_keys\s*=\s*off\b/i;

const migrations = readdirSync('drizzle').filter((name) => name.endsWith('.sql'));

for (const name of migrations) {
  const sql = readFileSync(join('drizzle', name), 'utf8');
  if (DANGEROUS.test(sql) && !sql.includes(REVIEWED)) {
    console.error(
      `drizzle/${name} drops a table or turns foreign keys off. If it loses no rows, add the line: ${REVIEWED}`,
    );
    process.exit(1);
  }
}

for (const path of [...migrations.map((name) => join('drizzle', name)), 'scripts/carry-over-0.1.sql']) {
  const problem = migrationProblem(readFileSync(path, 'utf8'));
  if (problem) {
    console.error(`${path} ${problem}`);
    process.exit(1);
  }
}

if (readdirSync('drizzle/meta').filter((name) => name.endsWith('_snapshot.json')).length !== 1) {
  console.error(
    'drizzle/meta has older snapshots, which nothing reads. Write migrations with npm run migration.',
  );
  process.exit(1);
}

const copy = mkdtempSync(join(tmpdir(), 'latchkey-migrations-'));
try {
  cpSync('drizzle', copy, { recursive: true });
  const { status, stdout, stderr } = spawnSync(
    'drizzle-kit',
    ['generate', '--dialect', 'sqlite', '--schema', './src/db/schema.ts', '--out', copy],
    { encoding: 'utf8' },
  );
  const written = readdirSync(copy).filter((name) => name.endsWith('.sql'));
  if (status !== 0 || written.length !== migrations.length) {
    console.error(
      `The schema in src/db has changed without a migration. Run npm run migration.\n${stdout}${stderr}`,
    );
    process.exitCode = 1;
  }
} finally {
  rmSync(copy, { recursive: true });
}
