import { fingerprintOf, type System } from '../../../src/client/node/fingerprint.ts';
import { claimsOf } from './signing.ts';
import { FINGERPRINT } from '../world.ts';

/** A machine, as far as a fingerprint depends on it. */
interface MachineCase {
  name: string;
  product: string;
  platform: string;
  /** The files that exist, and what they have. */
  files?: Record<string, string>;
  /** The programs that run, with their arguments, and what they print. */
  programs?: Record<string, string>;
  env?: Record<string, string>;
}

export const systemOf = ({ platform, files = {}, programs = {}, env = {} }: MachineCase): System => {
  const get = (from: Record<string, string>, name: string) => {
    const text = from[name];
    if (text === undefined) throw Object.assign(new Error(name), { code: 'ENOENT' });
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

const ID = 'b08dfa6083e7567a1921a715000001fb';
const UUID = '9BDC8C2C-9E5B-5F0B-8B1A-2A6C3F1D7E44';
const GUID = '4f1c2f52-7a3b-4d5e-9d0c-1c8a5b6f7e10';
const IOREG = '/usr/sbin/ioreg -rd1 -c IOPlatformExpertDevice';
const REG = 'System32\\reg.exe query HKLM\\SOFTWARE\\Microsoft\\Cryptography /v MachineGuid /reg:64';
const DEVICE = `+-o Macmini9,1  <class IOPlatformExpertDevice, id 0x100000260>\n    {\n      "IOPlatformUUID" = "${UUID}"\n      "model" = <"Macmini9,1">\n    }\n`;
const VALUE = `\r\nHKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Cryptography\r\n    MachineGuid    REG_SZ    ${GUID}\r\n\r\n`;
const MOUNT = '713 692 8:1 /etc/machine-id /etc/machine-id ro,relatime - ext4 /dev/sda1 rw\n';

const orrery = (name: string, platform: string, more: Partial<MachineCase>): MachineCase => ({
  name,
  product: 'orrery',
  platform,
  ...more,
});
const linux = (name: string, files: Record<string, string>, env?: Record<string, string>) =>
  orrery(name, 'linux', { files, ...(env && { env }) });

const LINUX = linux('Linux', { '/etc/machine-id': `${ID}\n` });
const MAC = orrery('macOS', 'darwin', { programs: { [IOREG]: DEVICE } });
const WINDOWS = orrery('Windows', 'win32', { programs: { [`C:\\Windows\\${REG}`]: VALUE } });
const MACHINES: MachineCase[] = [
  LINUX,
  { ...LINUX, name: 'Another product on the same machine', product: 'other' },
  linux('Linux that has the id with D-Bus only', {
    '/etc/machine-id': 'uninitialized\n',
    '/var/lib/dbus/machine-id': ID,
  }),
  linux('Linux without an id', {}),
  linux('Linux with an id that is none', { '/etc/machine-id': '0'.repeat(31) }),
  linux('A container, whose id is its image’s', { '/.dockerenv': '', '/etc/machine-id': ID }),
  linux('A container with the id of its host', {
    '/.dockerenv': '',
    '/etc/machine-id': ID,
    '/proc/self/mountinfo': MOUNT,
  }),
  linux('Kubernetes', { '/etc/machine-id': ID }, { KUBERNETES_SERVICE_HOST: '10.0.0.1' }),
  MAC,
  WINDOWS,
  orrery('Windows on another drive', 'win32', {
    programs: { [`D:\\Win\\${REG}`]: VALUE },
    env: { SystemRoot: 'D:\\Win' },
  }),
  orrery('A system of which nothing is known', 'freebsd', {}),
];

/** Null if the machine has no id of its own. */
export const fingerprintOn = (machine: MachineCase): string | null => {
  try {
    return fingerprintOf(machine.product, systemOf(machine));
  } catch {
    return null;
  }
};

export const fingerprintCases = () => ({
  about:
    'fingerprint = base64url(HMAC-SHA256(key: the machine’s id in lower case, message: "latchkey " + product)), or null where the machine has no id of its own. fp is the claim of tokens.',
  ids: [
    { machine_id: ID, product: 'orrery', fingerprint: fingerprintOn(LINUX) },
    { machine_id: ID, product: 'other', fingerprint: fingerprintOn({ ...LINUX, product: 'other' }) },
    { machine_id: UUID, product: 'orrery', fingerprint: fingerprintOn(MAC) },
    { machine_id: GUID, product: 'orrery', fingerprint: fingerprintOn(WINDOWS) },
  ],
  claims: [FINGERPRINT, '~!machine', 'x'.repeat(256)].map((fingerprint) => ({
    fingerprint,
    fp: claimsOf({ fingerprint }).fp,
  })),
  machines: MACHINES.map((machine) => ({ ...machine, fingerprint: fingerprintOn(machine) })),
});
