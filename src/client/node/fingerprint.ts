import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { codeOf } from './busy-files.ts';

/** What a fingerprint follows from. */
export interface System {
  platform: string;
  env: Record<string, string | undefined>;
  exists: (path: string) => boolean;
  /** Both throw if there is no such file or program. */
  read: (path: string) => string;
  run: (command: string, args: string[]) => string;
}

const TIMEOUT_MS = 5_000;

const thisSystem = (timeout: number): System => ({
  platform: process.platform,
  env: process.env,
  exists: existsSync,
  read: (path) => readFileSync(path, 'utf8'),
  run: (command, args) => execFileSync(command, args, { encoding: 'utf8', windowsHide: true, timeout }),
});

/** Both system programs end with 1 if they have run and found no id, as where a policy hides it. */
const NOT_FOUND = 1;

const isMissing = (error: unknown) =>
  codeOf(error) === 'ENOENT' || (error as { status?: unknown }).status === NOT_FOUND;

/** What isn't there reads as nothing. So does what can't be read, which is noted: it may be there a moment later. */
const calm =
  <A extends unknown[]>(read: (...args: A) => string, failures: unknown[]) =>
  (...args: A): string => {
    try {
      return read(...args);
    } catch (error) {
      if (!isMissing(error)) failures.push(error);
      return '';
    }
  };

const MACHINE_ID_FILES = ['/etc/machine-id', '/var/lib/dbus/machine-id'];

const isContainer = ({ env, exists, read }: System): boolean =>
  exists('/.dockerenv') ||
  exists('/run/.containerenv') ||
  env['KUBERNETES_SERVICE_HOST'] !== undefined ||
  /docker|kubepods|containerd|libpod/.test(read('/proc/1/cgroup'));

/** A container's own machine id is its image's, the same in all its containers, unless the host's file is mounted. */
const isMounted = ({ read }: System, path: string): boolean =>
  read('/proc/self/mountinfo')
    .split('\n')
    .some((line) => line.split(' ')[4] === path);

const linuxId = (system: System): string | undefined => {
  const inContainer = isContainer(system);
  return MACHINE_ID_FILES.filter((path) => !inContainer || isMounted(system, path))
    .map((path) => /^[0-9a-f]{32}$/.exec(system.read(path).trim())?.[0])
    .find(Boolean);
};

/** macOS: `"IOPlatformUUID" = "…"` */
const macId = ({ run }: System) =>
  /"IOPlatformUUID" = "([0-9A-F-]{36})"/i.exec(
    run('/usr/sbin/ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice']),
  )?.[1];

/** Windows: `MachineGuid    REG_SZ    …` */
const windowsId = ({ env, run }: System) => {
  const command = `${env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\reg.exe`;
  const key = 'HKLM\\SOFTWARE\\Microsoft\\Cryptography';
  return /MachineGuid\s+REG_SZ\s+([0-9a-f-]{36})/i.exec(
    run(command, ['query', key, '/v', 'MachineGuid', '/reg:64']),
  )?.[1];
};

const SOURCES: Record<string, (system: System) => string | undefined> = {
  linux: linuxId,
  darwin: macId,
  win32: windowsId,
};

/** Returns the fingerprint of a system. If it may only not be readable at the moment, the error has a cause. */
export const fingerprintOf = (product: string, system: System): string => {
  const failures: unknown[] = [];
  const read = calm(system.read, failures);
  const run = calm(system.run, failures);
  const id = SOURCES[system.platform]?.({ ...system, read, run });
  if (!id)
    throw new TypeError(
      'There is no machine id here that is this machine’s alone, as in most containers. Pass fingerprint: an id that you store on a volume, or a random id per start together with a lease.',
      { cause: failures[0] },
    );
  return createHmac('sha256', id.toLowerCase()).update(`latchkey ${product}`).digest('base64url');
};

/** Gives a program that says the id so much time. */
export const readFingerprint = (product: string, timeoutMs = TIMEOUT_MS): string => {
  if (typeof product !== 'string' || product === '')
    throw new TypeError('machineFingerprint takes your product’s code.');
  return fingerprintOf(product, thisSystem(timeoutMs));
};

/**
 * Returns a string that stays the same on this machine, and that differs by product: an HMAC of the operating system's
 * machine id, which itself leaves the machine with no call.
 */
export const machineFingerprint = (product: string): string => readFingerprint(product);
