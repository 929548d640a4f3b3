// What the branches of a killed service hold, from their disk.
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const STORAGE = '.wrangler/state/v3/do/latchkey-GateBranch';

/** What a branch was granted, less what it has given back and counted. */
const UNSPENT = `
  SELECT sum(granted - returned - coalesce(
    (SELECT counters ->> ('$."period:' || period_start_ms || '".value') FROM recent_counters),
    (SELECT value FROM counters WHERE name = 'period:' || period_start_ms),
    0
  )) AS calls FROM escrows`;

const readUnspent = (file: string): number => {
  const database = new DatabaseSync(file);
  try {
    return Number(database.prepare(UNSPENT).get()?.['calls'] ?? 0);
  } finally {
    database.close();
  }
};

/** Returns the calls that each branch of a stopped service was granted and has not spent. */
export const readGrants = (folder: string): number[] => {
  const storage = join(folder, STORAGE);
  if (!existsSync(storage)) return [];
  // SQLite would clean up after the kill, which the service has to do itself.
  const copy = mkdtempSync(join(tmpdir(), 'latchkey-branches-'));
  try {
    cpSync(storage, copy, { recursive: true });
    const files = readdirSync(copy).filter(
      (file) => file.endsWith('.sqlite') && !file.startsWith('metadata'),
    );
    return files.map((file) => readUnspent(join(copy, file)));
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
};
