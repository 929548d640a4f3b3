import { vi } from 'vitest';
import { applyD1Migrations, type D1Migration, reset } from 'cloudflare:test';
import { env } from 'cloudflare:workers';

declare global {
  namespace Cloudflare {
    interface Env {
      MIGRATIONS: D1Migration[];
    }
  }
}

// Runs before each file. Files share the runtime, but neither modules nor storage.
vi.resetModules();
await reset();
await applyD1Migrations(env.DB, env.MIGRATIONS);
