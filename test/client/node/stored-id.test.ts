import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createLicense } from '../../../src/client/node.ts';
import { storedId } from '../../../src/client/node/stored-id.ts';
import { pinnedKeys } from '../support/fake-service.ts';

vi.mock('../../../src/client/node/fingerprint.ts', () => ({
  readFingerprint: () => {
    throw new TypeError('There is no machine id here.');
  },
}));

const newDir = () => mkdtempSync(join(tmpdir(), 'latchkey-'));

test('a machine without an id keeps a random one, and another machine has another', () => {
  const dir = join(newDir(), 'app');
  const id = storedId(dir);
  expect(id).toMatch(/^[\w-]{22}$/);
  expect(storedId(dir)).toBe(id);
  expect(storedId(newDir())).not.toBe(id);
});

test('an id that was cut off by a crash is made anew, once', () => {
  const dir = newDir();
  writeFileSync(join(dir, 'machine-id'), '');
  const id = storedId(dir);
  expect(storedId(dir)).toBe(id);
  expect(readdirSync(dir)).toEqual(['machine-id']);
});

test('an id is on the disk before it has its name, so that a power loss leaves no other one behind', () => {
  const dir = newDir();
  const flushed: string[][] = [];
  const sync = vi.spyOn(process.getBuiltinModule('node:fs'), 'fsyncSync').mockImplementation(() => {
    flushed.push(readdirSync(dir));
  });
  const id = storedId(dir);
  sync.mockRestore();
  expect(flushed).toEqual([[`machine-id.${id}`]]);
});

test('where nothing can be written, there is an id all the same', () => {
  const file = join(newDir(), 'file');
  writeFileSync(file, '');
  expect(storedId(file)).toMatch(/^[\w-]{22}$/);
});

test('a program starts on a machine without an id', async () => {
  const dir = newDir();
  const options = { baseUrl: 'https://latchkey.test', apiKey: 'lk_test', keys: await pinnedKeys() };
  const sent: string[] = [];
  for (let run = 0; run < 2; run += 1) {
    const license = createLicense({
      ...options,
      dir,
      fetch: async (_, { body }) => {
        sent.push(JSON.parse(body ?? '{}').fingerprint);
        return Response.json({ error: { code: 'x', request_id: 'req_1' } }, { status: 403 });
      },
    });
    expect(await license.start()).toMatchObject({ code: 'key_missing', machine: 'stored' });
    await license.activate('SOME-LICENSE');
    await license.stop();
  }
  expect(sent).toEqual([storedId(dir), storedId(dir)]);
});
