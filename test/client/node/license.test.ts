import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createLicense } from '../../../src/client/node.ts';
import { pinnedKeys } from '../support/fake-service.ts';

vi.mock('../../../src/client/node/fingerprint.ts', () => ({
  readFingerprint: () => 'machine-of-the-system',
}));

const newDir = () => mkdtempSync(join(tmpdir(), 'latchkey-'));
const options = { baseUrl: 'https://latchkey.test', apiKey: 'lk', keys: await pinnedKeys() };

test('the state says where the fingerprint comes from', async () => {
  const dir = newDir();
  const states = await Promise.all(
    [{ dir }, { dir, fingerprint: 'machine-0123456789' }].map((more) =>
      createLicense({ ...options, ...more }).start(),
    ),
  );
  expect(states.map(({ machine }) => machine)).toEqual(['system', 'given']);
});

test('a file that can’t be read is named', async () => {
  const dir = newDir();
  // As for a file that only another user may read, opening it works and reading it fails. The tests may run as root.
  mkdirSync(join(dir, 'license.json'));
  const license = createLicense({ ...options, dir });
  const { problem } = await license.start();
  expect(problem).toMatchObject({ kind: 'store', message: expect.stringContaining(dir) as string });
  await license.stop();
});

test('a wrong directory is named at once', () => {
  for (const dir of ['', 5])
    expect(() => createLicense({ ...options, dir: dir as string })).toThrow(/dir must be/);
});
