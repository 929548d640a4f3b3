// Writes a migration with drizzle-kit. It compares the schema with the newest snapshot only, so the others aren't kept.
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const META = 'drizzle/meta';

const { status } = spawnSync('drizzle-kit', ['generate', ...process.argv.slice(2)], { stdio: 'inherit' });
const snapshots = readdirSync(META)
  .filter((name) => name.endsWith('_snapshot.json'))
  .toSorted();
for (const older of snapshots.slice(0, -1)) rmSync(join(META, older));
process.exitCode = status ?? 1;
