import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLicense } from '../../../src/client/node.ts';
import { fileStore } from '../../../src/client/node/file-store.ts';
import { fingerprintOf, type System } from '../../../src/client/node/fingerprint.ts';
import { pinnedKeys } from '../support/fake-service.ts';

/** A system with files, and programs with their captured output. */
const system = (
  platform: string,
  files: Record<string, string>,
  { programs = {}, env = {} }: { programs?: Record<string, string>; env?: Record<string, string> } = {},
): System => {
  const get = (from: Record<string, string>, name: string) => {
    const text = from[name];
    if (text === undefined) throw new Error(`ENOENT: ${name}`);
    return text;
  };
  return {
    platform,
    env,
    exists: (path) => path in files,
    read: (path) => get(files, path),
    run: (command, args) => get(programs, [command, ...args].join(' ')),
  };
};

const LINUX_ID = 'b08dfa6083e7567a1921a715000001fb';
const MAC = `+-o Macmini9,1  <class IOPlatformExpertDevice, id 0x100000260, registered, matched, active, busy 0 (12 ms), retain 38>
    {
      "IOPolledInterface" = "AppleARMWatchdogTimerHibernateHandler is not serializable"
      "IOPlatformUUID" = "9BDC8C2C-9E5B-5F0B-8B1A-2A6C3F1D7E44"
      "IOPlatformSerialNumber" = "H2WDW0ABQ6NV"
      "model" = <"Macmini9,1">
    }
`;
const WINDOWS =
  '\r\nHKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Cryptography\r\n    MachineGuid    REG_SZ    4f1c2f52-7a3b-4d5e-9d0c-1c8a5b6f7e10\r\n\r\n';
const IOREG = '/usr/sbin/ioreg -rd1 -c IOPlatformExpertDevice';
const REG = 'query HKLM\\SOFTWARE\\Microsoft\\Cryptography /v MachineGuid /reg:64';

const linux = (files: Record<string, string> = {}, env = {}) => system('linux', files, { env });
const SYSTEMS: [name: string, system: System][] = [
  ['Linux', linux({ '/etc/machine-id': `${LINUX_ID}\n` })],
  [
    'Linux with D-Bus only',
    linux({ '/etc/machine-id': 'uninitialized\n', '/var/lib/dbus/machine-id': LINUX_ID }),
  ],
  ['macOS', system('darwin', {}, { programs: { [IOREG]: MAC } })],
  ['Windows', system('win32', {}, { programs: { [`C:\\Windows\\System32\\reg.exe ${REG}`]: WINDOWS } })],
  [
    'Windows on another drive',
    system(
      'win32',
      {},
      { programs: { [`D:\\Win\\System32\\reg.exe ${REG}`]: WINDOWS }, env: { SystemRoot: 'D:\\Win' } },
    ),
  ],
];

describe('the fingerprint', () => {
  test.for(SYSTEMS)('is an HMAC of the machine id, stable, and differs by product: %s', ([, machine]) => {
    const fingerprint = fingerprintOf('orrery', machine);
    expect(fingerprint).toMatch(/^[\w-]{43}$/);
    expect(fingerprintOf('orrery', machine)).toBe(fingerprint);
    expect(fingerprintOf('other', machine)).not.toBe(fingerprint);
  });

  test('never changes from one version of this package to the next', () => {
    expect(SYSTEMS.map(([, machine]) => fingerprintOf('orrery', machine))).toEqual([
      'cTeIfh4LWoso6DPEzlLgThQmMNulcq3gLKh7kC5IKHY',
      'cTeIfh4LWoso6DPEzlLgThQmMNulcq3gLKh7kC5IKHY',
      'k1sSw7U-7ATO4XkidRAoJ8nVMPeRBX14riSH7BOAbgo',
      'QynducSTSgmBxL_Aiq0QCCG_eQzU2JvTqK_YREQlHpk',
      'QynducSTSgmBxL_Aiq0QCCG_eQzU2JvTqK_YREQlHpk',
    ]);
  });

  const CONTAINERS: [name: string, files: Record<string, string>, env: Record<string, string>][] = [
    ['Docker', { '/.dockerenv': '' }, {}],
    ['Podman', { '/run/.containerenv': '' }, {}],
    ['Kubernetes', {}, { KUBERNETES_SERVICE_HOST: '10.0.0.1' }],
    ['containerd', { '/proc/1/cgroup': '0::/system.slice/containerd.service/kubepods-besteffort.slice' }, {}],
  ];
  test.for(CONTAINERS)('is refused in a container, and the error says what to pass: %s', ([, files, env]) => {
    for (const id of [{}, { '/etc/machine-id': LINUX_ID }])
      expect(() => fingerprintOf('orrery', linux({ ...files, ...id }, env))).toThrow(/Pass fingerprint: /);
    const mountinfo = '713 692 8:1 /etc/machine-id /etc/machine-id ro,relatime - ext4 /dev/sda1 rw\n';
    const mounted = { ...files, '/etc/machine-id': LINUX_ID, '/proc/self/mountinfo': mountinfo };
    expect(fingerprintOf('orrery', linux(mounted, env))).toBe(
      fingerprintOf('orrery', linux({ '/etc/machine-id': LINUX_ID })),
    );
  });

  test.for(['', 'uninitialized', '0', 'x'.repeat(32)])('is not made of a broken machine id: %j', (id) => {
    expect(() => fingerprintOf('orrery', linux({ '/etc/machine-id': id }))).toThrow(TypeError);
    expect(() => fingerprintOf('orrery', system('freebsd', {}))).toThrow(TypeError);
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
