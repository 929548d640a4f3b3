import { mkdtempSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Append, PUBLIC, writeWhole } from '../../../src/client/cli/whole-file.ts';
import { DAY_MS, HOUR_MS } from '../../../src/shared/rules/dates.ts';

const newFile = () => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-whole-'));
  return { folder, file: join(folder, 'account.ndjson') };
};

test('of two exports into one file at the same time, the file is the one that ended last', async () => {
  const { folder, file } = newFile();
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  const write = (name: string, begun: PromiseWithResolvers<void>, before: Promise<unknown>) =>
    writeWhole(file, async (append: Append) => {
      await append(`${name} begins\n`);
      begun.resolve();
      await before;
      await append(`${name} ends\n`);
    });
  const one = write('first', first, second.promise);
  const two = first.promise.then(() => write('second', second, one));
  await Promise.all([one, two]);
  expect(readFileSync(file, 'utf8')).toBe('second begins\nsecond ends\n');
  expect(readdirSync(folder)).toEqual(['account.ndjson']);
});

test('what killed runs have left is removed after a day, and nothing else', async () => {
  const { folder, file } = newFile();
  const leave = (name: string, ageMs: number) => {
    writeFileSync(join(folder, name), 'half');
    const seconds = (Date.now() - ageMs) / 1_000;
    utimesSync(join(folder, name), seconds, seconds);
    return name;
  };
  leave('account.ndjson.0123456789ab.part', 2 * DAY_MS);
  const kept = [
    leave('account.ndjson.ba9876543210.part', HOUR_MS),
    leave('account.ndjson.notes.part', 2 * DAY_MS),
    leave('another.ndjson.0123456789ab.part', 2 * DAY_MS),
  ];
  await writeWhole(file, (append) => append('whole'));
  expect(new Set(readdirSync(folder))).toEqual(new Set(['account.ndjson', ...kept]));
});

test.runIf(process.platform !== 'win32')(
  'an export is for its owner alone, and public keys are for anyone',
  async () => {
    const { folder, file } = newFile();
    await writeWhole(file, (append) => append('secret'));
    await writeWhole(join(folder, 'keys.json'), (append) => append('public'), PUBLIC);
    const modes = ['account.ndjson', 'keys.json'].map((name) => statSync(join(folder, name)).mode & 0o777);
    expect(modes).toEqual([0o600, 0o666 & ~process.umask()]);
  },
);
