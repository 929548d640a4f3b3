// Runs the service in Miniflare with a migrated database, and provides a client for its API.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newSecrets } from '../e2e/support/checkout.ts';
import { clientOf, type Service } from '../e2e/support/service.ts';
import { type Bundle, ROOT } from './build.ts';
import { type Runtime, startWorker } from './runtime.ts';

/** Everything that a start needs to reuse the data of the previous start. */
export interface Place {
  name: string;
  folder: string;
  secrets: { API_KEY_SECRET: string; SEALING_KEYS: string; SIGNING_KEYS: string };
}

export interface Running extends Service {
  runtime: Runtime;
}

export const openPlace = (under: string, name: string): Place => {
  const folder = join(under, name);
  mkdirSync(folder, { recursive: true });
  return {
    name,
    folder,
    secrets: newSecrets(),
  };
};

/** `settings` replaces bindings of wrangler.toml. */
export const start = async (
  bundle: Bundle,
  place: Place,
  inspect = false,
  settings: Record<string, string> = {},
  sharedFolder?: string,
): Promise<Running> => {
  const runtime = await startWorker(bundle, {
    name: place.name,
    folder: place.folder,
    inspect,
    sharedFolder,
    bindings: {
      ...place.secrets,
      WEBHOOK_ALLOW_LOOPBACK: 'true',
      PAYMENTS: 'sandbox',
      ...settings,
    },
  });
  return { ...clientOf(runtime.origin), runtime, output: () => '', stop: runtime.stop };
};

export const migrate = async ({ miniflare }: Runtime) => {
  const database = await miniflare.getD1Database('DB');
  const folder = join(ROOT, 'drizzle');
  for (const file of readdirSync(folder).toSorted()) {
    if (!file.endsWith('.sql')) continue;
    for (const statement of readFileSync(join(folder, file), 'utf8').split('--> statement-breakpoint')) {
      await database.prepare(statement).run();
    }
  }
};
