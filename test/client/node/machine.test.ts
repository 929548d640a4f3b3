import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLicense } from '../../../src/client/node.ts';
import { fileStore } from '../../../src/client/node/file-store.ts';
import { fingerprintOf } from '../../../src/client/node/fingerprint.ts';
import { fingerprintOn, systemOf } from '../../conformance/cases/fingerprints.ts';
import { readConformance } from '../conformance/files.ts';
import { pinnedKeys } from '../support/fake-service.ts';

const { machines } = readConformance('fingerprints.json');
const machine = (name: string) => machines.find((each) => each.name === name) ?? expect.fail(name);
const LINUX = machine('Linux');
const MOUNTED = machine('A container with the id of its host');
const MACHINE_ID = '/etc/machine-id';

describe('the fingerprint', () => {
  test.for(machines.filter(({ fingerprint }) => fingerprint !== null))(
    'differs by product: $name',
    (each) => {
      const fingerprints = ['orrery', 'other', 'a-third-one'].map((product) =>
        fingerprintOn({ ...each, product }),
      );
      expect(fingerprints).toEqual(Array(3).fill(expect.stringMatching(/^[\w-]{43}$/)));
      expect(fingerprints).toContain(each.fingerprint);
      expect(new Set(fingerprints).size).toBe(3);
    },
  );

  const CONTAINERS: [name: string, files: Record<string, string>, env: Record<string, string>][] = [
    ['Docker', { '/.dockerenv': '' }, {}],
    ['Podman', { '/run/.containerenv': '' }, {}],
    ['Kubernetes', {}, { KUBERNETES_SERVICE_HOST: '10.0.0.1' }],
    ['containerd', { '/proc/1/cgroup': '0::/system.slice/containerd.service/kubepods-besteffort.slice' }, {}],
  ];
  test.for(CONTAINERS)('is refused in a container, and the error says what to pass: %s', ([, files, env]) => {
    for (const id of [{}, LINUX.files])
      expect(() => fingerprintOf('orrery', systemOf({ ...LINUX, files: { ...files, ...id }, env }))).toThrow(
        /Pass fingerprint: /,
      );
    const mounted = { ...MOUNTED.files };
    delete mounted['/.dockerenv'];
    expect(fingerprintOn({ ...LINUX, files: { ...mounted, ...files }, env })).toBe(LINUX.fingerprint);
  });

  const causeOf = (system: object) => {
    try {
      return fingerprintOf('orrery', { ...systemOf({ ...LINUX, files: {} }), ...system });
    } catch (error) {
      return (error as Error).cause;
    }
  };
  test('that can’t be read at the moment is told from one that isn’t there', () => {
    const fail = (code: string) => () => {
      throw Object.assign(new Error(code), { code });
    };
    expect(causeOf({})).toBeUndefined();
    expect(causeOf({ read: fail('EMFILE') })).toMatchObject({ code: 'EMFILE' });
    for (const platform of ['win32', 'darwin'])
      expect(causeOf({ platform, run: fail('ETIMEDOUT') })).toMatchObject({ code: 'ETIMEDOUT' });
    expect(causeOf({ platform: 'freebsd' })).toBeUndefined();
  });
  test('that a program says isn’t there, as under a policy of Windows, isn’t waited for', () => {
    const exit = (file: string) => () => execFileSync(process.execPath, ['-e', file], { encoding: 'utf8' });
    for (const platform of ['win32', 'darwin']) {
      expect(causeOf({ platform, run: exit('process.exit(1)') })).toBeUndefined();
      // A program that was killed, or couldn't start, has said nothing.
      for (const end of ['process.kill(process.pid)', 'process.exit(66)'])
        expect(causeOf({ platform, run: exit(end) })).toBeInstanceOf(Error);
    }
  });

  test.for(['', 'uninitialized', '0', 'x'.repeat(32)])('is not made of a broken machine id: %j', (id) => {
    expect(() => fingerprintOf('orrery', systemOf({ ...LINUX, files: { [MACHINE_ID]: id } }))).toThrow(
      TypeError,
    );
  });
});

describe('fileStore()', () => {
  let dir = '';
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'latchkey-store-'));
  });
  afterAll(() => rm(dir, { recursive: true }));

  test('writes with mode 0600 into a directory with mode 0700, and leaves nothing else', async () => {
    const path = join(dir, 'a/b');
    const store = fileStore(path);
    expect(await store.get()).toBeNull();
    await store.set('one');
    await store.set('two');
    expect(await store.get()).toBe('two');
    expect(await readdir(path)).toEqual(['license.json']);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    expect((await stat(join(path, 'license.json'))).mode & 0o777).toBe(0o600);
    await store.set(null);
    expect(await store.get()).toBeNull();
  });

  test('replaces the file as a whole, however many write', async () => {
    const path = join(dir, 'many');
    const texts = Array.from({ length: 20 }, (_, i) => String(i).repeat(10_000));
    const stores = texts.map(() => fileStore(path));
    await stores[0]?.set(texts[0] ?? '');
    const reads = await Promise.all(
      stores.map(async (store, i) => {
        await store.set(texts[i] ?? '');
        return store.get();
      }),
    );
    for (const text of reads) expect(texts).toContain(text);
    expect(await readdir(path)).toEqual(['license.json']);
  });

  test('runs one update at a time, of however many processes', async () => {
    const path = join(dir, 'updates');
    const add = async () => {
      const store = fileStore(path);
      await store.lock?.(async () => store.set(`${Number(await store.get()) + 1}`));
    };
    await Promise.all(Array.from({ length: 20 }, add));
    expect(await fileStore(path).get()).toBe('20');
    expect(await readdir(path)).toEqual(['license.json']);
  });

  test('takes over the lock of a process that has died', async () => {
    const path = join(dir, 'dead');
    const store = fileStore(path);
    await store.set('x');
    await writeFile(join(path, 'license.json.lock'), 'the id of a process that has died');
    const add = async () => {
      const store = fileStore(path);
      await store.lock?.(async () => store.set(`${await store.get()}x`));
    };
    await Promise.all([add(), add(), add(), add()]);
    expect(await store.get()).toBe('xxxxx');
    expect(await readdir(path)).toEqual(['license.json']);
  });

  test('leaves the lock alone that another process has taken over from it', async () => {
    const path = join(dir, 'asleep');
    const lock = join(path, 'license.json.lock');
    await fileStore(path).lock?.(async () => writeFile(lock, 'of another process'));
    expect(await readFile(lock, 'utf8')).toBe('of another process');
  });

  test('updates without a lock that it can’t create', async () => {
    const path = join(dir, 'a-file');
    await writeFile(path, '');
    const update = async () => 'updated';
    expect(await fileStore(path).lock?.(update)).toBe('updated');
  });

  test('of a broken file is no token, and no crash', async () => {
    const path = join(dir, 'broken');
    await fileStore(path).set('x');
    await writeFile(join(path, 'license.json'), Buffer.from([0xff, 0xfe, 0x00, 0x7b]));
    const options = { baseUrl: 'https://latchkey.test', apiKey: 'lk', keys: await pinnedKeys() };
    const license = createLicense({ ...options, dir: path, fingerprint: 'machine-0123456789' });
    expect(await license.start()).toMatchObject({ code: 'key_missing' });
    await license.forget();
    await license.stop();
    expect(JSON.parse(await readFile(join(path, 'license.json'), 'utf8'))).toMatchObject({ token: null });
  });

  test('needs a directory', async () => {
    const options = { baseUrl: 'https://latchkey.test', apiKey: 'lk', keys: await pinnedKeys() };
    expect(() => createLicense({ ...options, fingerprint: 'machine-0123456789' })).toThrow(/dir must be/);
  });
});
