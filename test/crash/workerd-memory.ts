// Measures the memory of the runtime that `wrangler dev` started in a folder.
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { collectGarbage, type Isolate, openIsolates } from './isolates.ts';

/** The state of a listening socket in /proc/net/tcp. */
const LISTENING = '0A';

/** Returns the workerd processes in the folder: the service, and the proxy that wrangler runs in front of it. */
const listPids = (folder: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      const isInFolder = readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
      return isInFolder && readFileSync(`/proc/${pid}/comm`, 'utf8') === 'workerd\n';
    } catch {
      // Not a process, or it has exited.
      return false;
    }
  });

const listPorts = (pid: string): number[] => {
  const files = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  return readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === LISTENING && files.includes(`socket:[${inode}]`))
    .map(([, address = '']) => Number.parseInt(address.slice(address.indexOf(':') + 1), 16));
};

/** Wrangler's proxy holds the session of the Worker and lists the Worker under an id of its own. */
const isNotHeldByProxy = (id: string) => !id.startsWith('core:user:');

const openAt = async (port: number): Promise<Isolate[]> => {
  try {
    return await openIsolates(`127.0.0.1:${port}`, isNotHeldByProxy);
  } catch {
    // Not an inspector.
    return [];
  }
};

const readRssMiB = (pid: string): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024);
};

/** A collection stops the isolates for a moment. */
const SAMPLE_EVERY_MS = 3_000;

/** Samples the memory of the service's process in MiB, after a collection. There are no samples on systems without /proc. */
export const watchMemory = async (folder: string) => {
  const samplesMiB: number[] = [];
  const stop = new AbortController();
  const watcher = { samplesMiB, [Symbol.dispose]: () => stop.abort() };
  if (!existsSync('/proc/self/net/tcp')) return watcher;
  const isolates: Isolate[] = [];
  let servicePid = '';
  for (const pid of listPids(folder)) {
    const opened = (await Promise.all(listPorts(pid).map(openAt))).flat();
    if (opened.some(({ id }) => id === 'core:entry')) servicePid = pid;
    isolates.push(...opened);
  }
  if (servicePid === '') throw new Error(`No runtime with an inspector runs in ${folder}.`);
  const takeSample = async () => {
    await collectGarbage(isolates);
    if (!stop.signal.aborted) samplesMiB.push(readRssMiB(servicePid));
  };
  const watch = async () => {
    while (!stop.signal.aborted) await Promise.all([takeSample(), delay(SAMPLE_EVERY_MS)]);
    for (const { close } of isolates) close();
  };
  await takeSample();
  watch().catch((error: unknown) => {
    // The service is stopped at the end.
    if (!stop.signal.aborted) throw error;
  });
  return watcher;
};
