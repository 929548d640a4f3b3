import { applyD1Migrations, type D1Migration } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { emptyStorage } from './empty-storage.ts';
import { importKnownModules } from './known-modules.ts';
import { keepMails } from './mails.ts';
import { parkAlarms } from './parked-alarms.ts';
import { resetModules } from './reset-modules.ts';
import { loseStoreHints } from './store-hints.ts';

declare global {
  namespace Cloudflare {
    interface Env {
      MIGRATIONS: D1Migration[];
      DB2: D1Database;
    }
  }
}

/** Each migration is a call of its own, which takes longer than its statements. The record names them all. */
const joined = (migrations: D1Migration[]): D1Migration => {
  const earlier = migrations.slice(0, -1).map(({ name }) => `('${name}')`);
  const record = `INSERT INTO d1_migrations (name) VALUES ${earlier.join(', ')}`;
  const queries = [...migrations.flatMap((migration) => migration.queries), record];
  return { name: migrations.at(-1)?.name ?? '', queries };
};

// Runs before each file. Files share the runtime, but neither modules nor storage.
importKnownModules();
resetModules();
await parkAlarms();
await emptyStorage();
keepMails();
loseStoreHints();
(await import('./hash-cost.ts')).lowerHashCost();
await Promise.all([env.DB, env.DB2].map((d1) => applyD1Migrations(d1, [joined(env.MIGRATIONS)])));
