// Prints the views, triggers, indexes, and tables with these names as they are after all migrations, each of which may have
// replaced them: `node scripts/definitions.ts license_words stored_bytes`. Without a name, it prints all.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const folder = join(import.meta.dirname, '../drizzle');
const db = new DatabaseSync(':memory:');
for (const name of readdirSync(folder).toSorted())
  if (name.endsWith('.sql')) db.exec(readFileSync(join(folder, name), 'utf8'));

const names = process.argv.slice(2);
const definitions = db
  .prepare('SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name')
  .all();
const wanted = definitions.filter(({ name }) => names.length === 0 || names.includes(String(name)));
for (const { sql } of wanted) console.log(`${String(sql)};\n`);
const found = new Set(wanted.map(({ name }) => name));
const missing = names.filter((name) => !found.has(name));
if (missing.length > 0) {
  console.error(`There is no ${missing.join(' and no ')}.`);
  process.exitCode = 1;
}
