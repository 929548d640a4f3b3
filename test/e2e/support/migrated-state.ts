// Vitest global setup: what `npm run dev` makes of the databases at its first start, for checkouts that test something else.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { migrate } from '../../../scripts/local-migrations.ts';

/** The variable that names the folder. Without one, each checkout migrates its own databases. */
export const MIGRATED_STATE = 'LATCHKEY_MIGRATED_STATE';

export default () => {
  if (process.env[MIGRATED_STATE]) return;
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-state-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const problem = migrate(['DB'], folder, {
    ...process.env,
    PATH: `${resolve('node_modules/.bin')}:${process.env['PATH']}`,
    WRANGLER_SEND_METRICS: 'false',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  });
  if (problem !== null) throw new Error(problem);
  process.env[MIGRATED_STATE] = folder;
};
