// The service as a newcomer starts it: `npm run dev` in a checkout of its own, on a free port of this machine.
import { execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseEnv } from 'node:util';

const ROOT = join(import.meta.dirname, '../../..');
const START_PATIENCE_MS = 60_000;
const STOP_PATIENCE_MS = 10_000;

/** What the test runner and this machine's npm would add is not what a newcomer has. */
const NOT_A_NEWCOMERS = /^(npm_|VITEST|NODE_ENV$|NODE_OPTIONS$|CI$|WRANGLER_|CLOUDFLARE_|FORCE_COLOR$)/i;

const environment = { ...process.env };
for (const name of Object.keys(environment)) {
  if (NOT_A_NEWCOMERS.test(name)) delete environment[name];
}
Object.assign(environment, { npm_config_userconfig: '/dev/null', npm_config_update_notifier: 'false' });

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** Null unless the answer is JSON. */
  body: unknown;
}

export interface Client {
  origin: string;
  get: (path: string, headers?: Record<string, string>) => Promise<Answer>;
  post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Answer>;
}

export interface Service extends Client {
  /** Everything that it has printed so far. */
  output: () => string;
  stop: (signal?: NodeJS.Signals) => Promise<void>;
}

const folders: string[] = [];
const stops = new Map<number, Service['stop']>();

/** A fresh checkout: every file that git keeps or would keep, and the packages that are installed here. */
export const checkOut = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-e2e-'));
  folders.push(folder);
  const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: ROOT });
  for (const file of listed.toString().split('\0')) {
    const source = join(ROOT, file);
    // One that was deleted and not yet committed is still listed.
    if (file !== '' && existsSync(source)) await cp(source, join(folder, file));
  }
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
};

export const secretsOf = (folder: string) => parseEnv(readFileSync(join(folder, '.dev.vars'), 'utf8'));

/** Below those that systems give to whoever asks for any port, so that nobody gets it in the meantime. */
const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    const server = createServer();
    try {
      server.listen(port, 'localhost');
      await once(server, 'listening');
      server.close();
      await once(server, 'close');
      return port;
    } catch {
      // Taken: another one, then.
    }
  }
};

const signalGroup = (pid: number, signal: NodeJS.Signals) => {
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended already.
  }
};

/** Runs a command to its end, at the head of a process group of its own. */
const launch = (folder: string, [command = '', ...args]: string[]) => {
  const child = spawn(command, args, {
    cwd: folder,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      printed[stream] += text;
    });
  }
  const exited = once(child, 'close').then(([code]) => code as number | null);
  return { child, printed, exited };
};

export const runToEnd = async (folder: string, ...command: string[]) => {
  const { child, printed, exited } = launch(folder, command);
  const { pid = 0 } = child;
  stops.set(pid, async () => signalGroup(pid, 'SIGKILL'));
  const code = await exited;
  stops.delete(pid);
  return { code, ...printed };
};

const request = async (url: string, init: RequestInit): Promise<Answer> => {
  const response = await fetch(url, init);
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? (JSON.parse(text) as unknown) : null,
  };
};

export const clientOf = (origin: string): Client => ({
  origin,
  get: (path, headers = {}) => request(origin + path, { headers }),
  post: (path, body, headers = {}) =>
    request(origin + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }),
});

const answers = async (origin: string): Promise<boolean> => {
  try {
    await fetch(`${origin}/health`);
    return true;
  } catch {
    return false;
  }
};

/** Starts the service in a checkout and waits until it answers; each start takes another port. */
export const start = async (folder: string, command = ['npm', 'run', 'dev', '--']): Promise<Service> => {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const { child, printed, exited } = launch(folder, [...command, '--port', String(port)]);
  const { pid = 0 } = child;
  const output = () => printed.stdout + printed.stderr;

  const stop: Service['stop'] = async (signal = 'SIGINT') => {
    signalGroup(pid, signal);
    await Promise.race([exited, delay(STOP_PATIENCE_MS, undefined, { ref: false })]);
    signalGroup(pid, 'SIGKILL');
    await exited;
    stops.delete(pid);
  };
  stops.set(pid, stop);

  const deadlineMs = Date.now() + START_PATIENCE_MS;
  while (!(await answers(origin))) {
    if (child.exitCode !== null || Date.now() > deadlineMs) {
      await stop();
      throw new Error(`The service did not start in ${folder}:\n${output()}`);
    }
    await delay(100);
  }

  return { ...clientOf(origin), output, stop };
};

/** For `afterAll`: nothing that a test file started or wrote is left behind. */
export const tidyUp = async () => {
  await Promise.all([...stops.values()].map((stop) => stop()));
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
};

process.on('exit', () => {
  for (const pid of stops.keys()) signalGroup(pid, 'SIGKILL');
});
