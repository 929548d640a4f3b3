// Starts the service as the README describes: `npm run dev` in a fresh checkout, on a free port.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { removeCheckouts } from './checkout.ts';

/** After this time, a start counts as hanging. A first start also builds, which takes long on a machine that is busy. */
const START_TIMEOUT_MS = 600_000;
const STOP_TIMEOUT_MS = 10_000;

/** Variables that the test runner, npm and CI set, and that a new user does not have. */
const INHERITED_VARIABLES = /^(npm_|VITEST|NODE_ENV$|NODE_OPTIONS$|CI$|WRANGLER_|CLOUDFLARE_|FORCE_COLOR$)/i;

const environment = { ...process.env };
for (const name of Object.keys(environment)) {
  if (INHERITED_VARIABLES.test(name)) delete environment[name];
}
Object.assign(environment, { npm_config_userconfig: '/dev/null', npm_config_update_notifier: 'false' });

export interface ApiResponse {
  status: number;
  headers: Headers;
  text: string;
  /** Null unless the response is JSON. */
  body: unknown;
}

export interface Client {
  origin: string;
  get: (path: string, headers?: Record<string, string>) => Promise<ApiResponse>;
  post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<ApiResponse>;
  put: (path: string, body: unknown, headers?: Record<string, string>) => Promise<ApiResponse>;
  patch: (path: string, body: unknown, headers?: Record<string, string>) => Promise<ApiResponse>;
}

export interface Service extends Client {
  /** Returns everything the service has printed so far. */
  output: () => string;
  stop: (signal?: NodeJS.Signals) => Promise<void>;
}

const stops = new Map<number, Service['stop']>();

/** Returns a port below the ephemeral range, so that no other process is assigned it in the meantime. */
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
      // The port is taken.
    }
  }
};

const signalGroup = (pid: number, signal: NodeJS.Signals) => {
  try {
    process.kill(-pid, signal);
  } catch {
    // The process has already exited.
  }
};

/** Starts a command in its own process group. */
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

/** Runs a command and returns its exit code and output. */
export const runCommand = async (folder: string, ...command: string[]) => {
  const { child, printed, exited } = launch(folder, command);
  const { pid = 0 } = child;
  stops.set(pid, async () => signalGroup(pid, 'SIGKILL'));
  const code = await exited;
  stops.delete(pid);
  return { code, ...printed };
};

const request = async (url: string, init: RequestInit): Promise<ApiResponse> => {
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

const sender =
  (origin: string, method: string): Client['post'] =>
  (path, body, headers = {}) =>
    request(origin + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

export const clientOf = (origin: string): Client => ({
  origin,
  get: (path, headers = {}) => request(origin + path, { headers }),
  post: sender(origin, 'POST'),
  put: sender(origin, 'PUT'),
  patch: sender(origin, 'PATCH'),
});

const isListening = async (origin: string): Promise<boolean> => {
  try {
    await fetch(`${origin}/health`);
    return true;
  } catch {
    return false;
  }
};

/** Starts the service in a checkout, on a new port, and waits until it responds. */
export const startService = async (
  folder: string,
  command = ['npm', 'run', 'dev', '--'],
): Promise<Service> => {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const { child, printed, exited } = launch(folder, [...command, '--port', String(port)]);
  const { pid = 0 } = child;
  const output = () => printed.stdout + printed.stderr;

  const stop: Service['stop'] = async (signal = 'SIGINT') => {
    signalGroup(pid, signal);
    await Promise.race([exited, delay(STOP_TIMEOUT_MS, undefined, { ref: false })]);
    signalGroup(pid, 'SIGKILL');
    await exited;
    stops.delete(pid);
  };
  stops.set(pid, stop);

  const deadlineMs = Date.now() + START_TIMEOUT_MS;
  while (!(await isListening(origin))) {
    if (child.exitCode !== null || Date.now() > deadlineMs) {
      await stop();
      throw new Error(`The service did not start in ${folder}:\n${output()}`);
    }
    await delay(100);
  }

  return { ...clientOf(origin), output, stop };
};

/** Stops everything that was started and deletes every checkout. */
export const cleanUp = async () => {
  await Promise.all([...stops.values()].map((stop) => stop()));
  await removeCheckouts();
};

// After a run that is interrupted before cleanUp().
process.on('exit', () => {
  for (const pid of stops.keys()) signalGroup(pid, 'SIGKILL');
});
