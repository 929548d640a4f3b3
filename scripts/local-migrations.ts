// Migrates the local databases.
import { spawnSync } from 'node:child_process';
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

/** Applies the migrations to local databases. Returns why it couldn't, or null. */
export const migrate = (bindings: string[], storage: string, env: NodeJS.ProcessEnv): string | null => {
  const config = existsSync(join(storage, 'v3/d1')) ? 'wrangler.toml' : joinMigrations();
  for (const binding of bindings) {
    const { status, stdout, stderr } = spawnSync(
      'wrangler',
      ['d1', 'migrations', 'apply', binding, '--local', '--persist-to', storage, '--config', config],
      { env: { ...env, CI: 'true' }, encoding: 'utf8' },
    );
    if (status !== 0)
      return `Could not apply the migrations to the local database ${binding}:\n${stdout}${stderr}`;
  }
  return null;
};
