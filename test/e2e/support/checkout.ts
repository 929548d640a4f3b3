// Checkouts of the repository, in which tests start the service as the README describes.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { MIGRATED_STATE } from './migrated-state.ts';

const ROOT = join(import.meta.dirname, '../../..');

const folders: string[] = [];

/** Copies every tracked or untracked file that git does not ignore, and links node_modules. */
export const checkOut = async (under = tmpdir()): Promise<string> => {
  const folder = await mkdtemp(join(under, 'latchkey-e2e-'));
  folders.push(folder);
  const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: ROOT });
  // git also lists files that are deleted in the working tree.
  const files = listed
    .toString()
    .split('\0')
    .filter((file) => file !== '' && existsSync(join(ROOT, file)));
  // For two thousand files, tar takes a tenth of the time of as many calls.
  const packed = execFileSync('tar', ['-c', '--null', '-T', '-'], {
    cwd: ROOT,
    input: files.join('\0'),
    maxBuffer: Infinity,
  });
  execFileSync('tar', ['-x'], { cwd: folder, input: packed });
  // npm installs packages in two folders.
  for (const name of ['node_modules', 'scripts/api-types/node_modules'])
    await symlink(join(ROOT, name), join(folder, name));
  return folder;
};

/** A checkout with the assets that `npm test` has built, and with migrated databases. Making them takes ten seconds. */
export const checkOutBuilt = async (): Promise<string> => {
  const folder = await checkOut();
  const copies = ['dist/assets', 'dist/assets.sha256'].map((name) => [join(ROOT, name), name] as const);
  const state = process.env[MIGRATED_STATE];
  for (const [source, name] of [...copies, ...(state ? [[state, '.wrangler/state'] as const] : [])])
    if (existsSync(source)) cpSync(source, join(folder, name), { recursive: true });
  return folder;
};

export const newSecrets = () => ({
  API_KEY_SECRET: randomBytes(32).toString('hex'),
  SEALING_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  SIGNING_KEYS: randomBytes(32).toString('base64'),
});

export const secretsOf = (folder: string) => parseEnv(readFileSync(join(folder, '.dev.vars'), 'utf8'));

export const writeSecrets = (folder: string, secrets: Record<string, string>): void =>
  writeFileSync(
    join(folder, '.dev.vars'),
    Object.entries(secrets)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );

/** Deletes every checkout. */
export const removeCheckouts = async (): Promise<void> => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
};

// After a run that is interrupted before removeCheckouts().
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});
