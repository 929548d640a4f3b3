// Builds only what isn't up to date. The content decides, because times of files say nothing after a checkout.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const root = join(import.meta.dirname, '..');
/** What a build writes, and packages. */
const NOT_SOURCES = new Set(['src/client/api/schema.ts', 'scripts/api-types/node_modules']);
/** npm writes it. It lists the installed packages. */
const PACKAGES = 'node_modules/.package-lock.json';

const filesIn = (path: string): string[] => {
  if (!existsSync(join(root, path))) return [];
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path))
    .toSorted()
    .map((name) => `${path}/${name}`)
    .flatMap((file) => (NOT_SOURCES.has(file) ? [] : filesIn(file)));
};

const hashOf = (...paths: string[]): string => {
  const hash = createHash('sha256').update(process.version);
  for (const file of paths.flatMap(filesIn)) {
    const content = readFileSync(join(root, file));
    hash.update(`${file}\n${content.length}\n`).update(content);
  }
  return hash.digest('hex');
};

interface Build {
  /** The file or folder that is written. */
  to: string;
  /** The files and folders that it is made of. Installed packages are always among them. */
  sources: string[];
  build: () => Promise<void>;
}

const out = join(root, 'dist');

const buildUnlocked = async ({ to, sources, build }: Build) => {
  const stampPath = join(out, `${basename(to)}.sha256`);
  const stamp = existsSync(stampPath) ? readFileSync(stampPath, 'utf8') : '';
  const made = hashOf(...sources, PACKAGES);
  if (stamp === `${made} ${hashOf(to)}`) return;
  rmSync(stampPath, { force: true });
  await build();
  writeFileSync(stampPath, `${made} ${hashOf(to)}`);
};

/**
 * `npm run build` and the build of `wrangler dev` may run at the same time. The second one waits, and finds the files up to
 * date. SQLite locks the file through the operating system, so a killed build leaves no lock behind.
 */
export const buildIfChanged = async (files: Build) => {
  mkdirSync(out, { recursive: true });
  const lock = new DatabaseSync(join(out, `${basename(files.to)}.lock`), { timeout: 600_000 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    await buildUnlocked(files);
  } finally {
    lock.close();
  }
};
