// Migrates the local databases.
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The `migrations_dir` of wrangler.toml. */
const MIGRATIONS = 'drizzle';
const JOINED = '.wrangler/joined-migrations';

/**
 * Joins all migrations into one with the name of the last, for databases that have none. Wrangler takes a second for each file.
 * Returns the configuration that has it.
 */
const joinMigrations = (): string => {
  const names = readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .toSorted();
  const texts = names.map((name) => readFileSync(join(MIGRATIONS, name), 'utf8'));
  // Wrangler records only the name of the file.
  const records = names.slice(0, -1).map((name) => `INSERT INTO d1_migrations (name) VALUES ('${name}');`);
  const folder = join(JOINED, MIGRATIONS);
  rmSync(JOINED, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, names.at(-1) ?? ''), [...texts, ...records].join('\n'));
  cpSync('wrangler.toml', join(JOINED, 'wrangler.toml'));
  return join(JOINED, 'wrangler.toml');
};

/** Says what the databases have. Without such a record, wrangler takes three seconds to find that nothing is to be done. */
const toRecord = (bindings: string[]) =>
  JSON.stringify({
    bindings,
    migrations: readdirSync(MIGRATIONS).toSorted(),
    // It names the databases.
    configuration: hash('sha256', readFileSync('wrangler.toml')),
  });

const readIfThere = (file: string): string | null => (existsSync(file) ? readFileSync(file, 'utf8') : null);

/** Applies the migrations to local databases. Returns why it couldn't, or null. */
export const migrate = (bindings: string[], storage: string, env: NodeJS.ProcessEnv): string | null => {
  const databases = join(storage, 'v3/d1');
  /** Beside the databases, so that whoever deletes them deletes it too. */
  const recorded = join(databases, 'latchkey-migrations.json');
  if (readIfThere(recorded) === toRecord(bindings)) return null;
  const config = existsSync(databases) ? 'wrangler.toml' : joinMigrations();
  for (const binding of bindings) {
    const { status, stdout, stderr } = spawnSync(
      'wrangler',
      ['d1', 'migrations', 'apply', binding, '--local', '--persist-to', storage, '--config', config],
      { env: { ...env, CI: 'true' }, encoding: 'utf8' },
    );
    if (status !== 0)
      return `Could not apply the migrations to the local database ${binding}:\n${stdout}${stderr}`;
  }
  writeFileSync(recorded, toRecord(bindings));
  return null;
};
