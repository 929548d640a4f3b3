import type { D1Migration } from 'cloudflare:test';
import { emptyStorage, makeTables } from './empty-storage.ts';
import { importKnownModules } from './known-modules.ts';
import { sendLateLogs } from './late-logs.ts';
import { keepMails } from './mails.ts';
import { parkAlarms } from './parked-alarms.ts';
import { resetModules } from './reset-modules.ts';
import { loseStoreHints } from './store-hints.ts';

declare global {
  namespace Cloudflare {
    interface Env {
      MIGRATIONS: D1Migration[];
      /** The statements that make the tables as they are after all migrations. */
      CREATE_TABLES: string;
      DB2: D1Database;
    }
  }
}

// Runs before each file. Files share the runtime, but neither modules nor storage.
importKnownModules();
sendLateLogs();
resetModules();
await parkAlarms();
await emptyStorage();
keepMails();
loseStoreHints();
(await import('./hash-cost.ts')).lowerHashCost();
await makeTables();
