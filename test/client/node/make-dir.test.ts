import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SOURCE = join(import.meta.dirname, '../../../src/client/node');

/** Runs in a process of its own, which can be ended also where it makes no progress. */
const storeIn = (dir: string) => {
  const script = `
    import { fileStore } from ${JSON.stringify(join(SOURCE, 'file-store.ts'))};
    import { storedId } from ${JSON.stringify(join(SOURCE, 'stored-id.ts'))};
    const [id, store] = [storedId(process.argv[1]), fileStore(process.argv[1])];
    const code = await store.lock(() => store.set('text')).then(() => null, ({ code }) => code);
    console.log(JSON.stringify({ isId: id.length === 22, code, text: await store.get().catch(() => null) }));`;
  const args = ['--input-type=module', '--no-warnings', '-e', script, dir];
  const { stdout, error } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    timeout: 100_000,
    killSignal: 'SIGKILL',
  });
  return error ?? (JSON.parse(stdout) as unknown);
};

test.skipIf(!existsSync('/proc/self'))('a folder that takes no folders is named, and holds up nobody', () => {
  const nothing = { isId: true, code: 'ENOENT', text: null };
  expect(storeIn('/proc/latchkey')).toEqual(nothing);
  expect(storeIn('/proc/latchkey/app')).toEqual(nothing);
});

test('the folders above the directory are made, for the user alone', () => {
  const above = join(mkdtempSync(join(tmpdir(), 'latchkey-')), 'company');
  expect(storeIn(join(above, 'app'))).toEqual({ isId: true, code: null, text: 'text' });
  // Windows has no such modes.
  expect(process.platform === 'win32' ? 0o700 : statSync(above).mode & 0o777).toBe(0o700);
});

test('a file in the place of the directory is named', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'latchkey-')), 'file');
  writeFileSync(file, '');
  expect(storeIn(join(file, 'app'))).toEqual({ isId: true, code: 'ENOTDIR', text: null });
});
