import { mkdtempSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileStore } from '../../../src/client/node/file-store.ts';
import { DAY_MS, HOUR_MS } from '../../../src/shared/rules/dates.ts';

const setUp = () => {
  const dir = mkdtempSync(join(tmpdir(), 'latchkey-leftovers-'));
  const leave = (name: string, ageMs: number) => {
    const path = join(dir, name);
    writeFileSync(path, 'half');
    const seconds = (Date.now() - ageMs) / 1_000;
    utimesSync(path, seconds, seconds);
    return name;
  };
  return { dir, leave };
};

const OLD_MS = 2 * DAY_MS;

test('what processes that died have left is removed a day later, at a write of another process', async () => {
  const { dir, leave } = setUp();
  leave('license.json.0123456789ab', OLD_MS);
  leave('license.json.lock.0123456789ab', OLD_MS);
  leave(`machine-id.${'A'.repeat(22)}`, OLD_MS);
  const store = fileStore(dir);
  await store.set('{}');
  expect(readdirSync(dir)).toEqual(['license.json']);
  expect(await store.get()).toBe('{}');
});

test('what may still be in use, or is the application’s own, stays', async () => {
  const { dir, leave } = setUp();
  const kept = [
    leave('license.json.backup', OLD_MS),
    leave('license.json.ba9876543210', HOUR_MS),
    leave('license.json.lock', OLD_MS),
    leave('license.json.lock.ba9876543210', HOUR_MS),
    leave('machine-id', OLD_MS),
    leave('my-license.json.0123456789ab', OLD_MS),
  ];
  await fileStore(dir).set('{}');
  expect(new Set(readdirSync(dir))).toEqual(new Set(['license.json', ...kept]));
});
