// Runs a Worker in Miniflare on a direct socket, without the development proxy.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare';
import { unstable_getMiniflareWorkerOptions } from 'wrangler';
import type { Bundle } from './build.ts';

const require = createRequire(createRequire(import.meta.url).resolve('miniflare'));
const { default: workerd, version: workerdVersion } = require('workerd') as {
  default: string;
  version: string;
};
export { workerdVersion };

const TICK_MS = 10;

/** Redirects the log of the service to /dev/null. It is written, as in production. */
export const silenceWorkerd = (folder: string) => {
  const launcher = join(folder, 'workerd.sh');
  writeFileSync(launcher, `#!/bin/sh\necho $$ > "$BENCH_PID_FILE"\nexec "${workerd}" "$@" > /dev/null\n`, {
    mode: 0o755,
  });
  process.env['MINIFLARE_WORKERD_PATH'] = launcher;
};

export interface Settings {
  name: string;
  /** Holds the data between two starts. */
  folder: string;
  bindings?: Record<string, string>;
  inspect?: boolean;
  /** Holds the databases of all runtimes with the same folder. The first of them to start runs the databases. */
  sharedFolder?: string | undefined;
}

export interface Runtime {
  name: string;
  miniflare: Miniflare;
  origin: string;
  port: number;
  pid: string;
  rssBytes: () => number;
  /** CPU time that the runtime has used so far. */
  cpuMs: () => number;
  stop: () => Promise<void>;
}

const sharing = ({ folder, sharedFolder }: Settings) =>
  sharedFolder !== undefined && {
    resourcePersistencePath: sharedFolder,
    isolatedResourcePersistencePath: join(folder, 'data'),
    unsafeEnableSharedStorage: true,
    enableDevRegistry: true,
    unsafeDevRegistryPath: join(sharedFolder, 'registry'),
  };

const optionsOf = ({ config, script }: Bundle, settings: Settings) => {
  const { name, folder, bindings, inspect } = settings;
  // The static assets router would be a second Worker in front of the measured one.
  const {
    assets: _,
    modulesRules: _r,
    ...options
  } = unstable_getMiniflareWorkerOptions(config).workerOptions;
  const converted = convertV4MiniflareOptions({
    ...options,
    name,
    bindings: { ...(options.bindings as Record<string, string>), ...bindings },
    modules: true,
    scriptPath: script,
    rootPath: dirname(script),
    unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
    resourcePersistencePath: join(folder, 'data'),
    logRequests: false,
    log: new Log(LogLevel.WARN),
    cf: false,
    telemetry: { enabled: false },
    unsafeRuntimeEnv: { BENCH_PID_FILE: join(folder, 'pid') },
    ...(inspect && { inspectorPort: 0 }),
  });
  return { ...converted, ...sharing(settings) };
};

const started = new Set<Miniflare>();

/** Stops every runtime that was started. */
export const stopAll = async () => {
  await Promise.all([...started].map((miniflare) => miniflare.dispose()));
  started.clear();
};

export const startWorker = async (bundle: Bundle, settings: Settings): Promise<Runtime> => {
  const miniflare = new Miniflare(optionsOf(bundle, settings));
  started.add(miniflare);
  const { origin, port } = await miniflare.unsafeGetDirectURL();
  const pid = readFileSync(join(settings.folder, 'pid'), 'utf8').trim();
  const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8');
  return {
    name: settings.name,
    miniflare,
    origin,
    port: Number(port),
    pid,
    rssBytes: () => Number(/^VmRSS:\s+(\d+)/m.exec(read('status'))?.[1]) * 1_024,
    cpuMs: () => {
      // The process name, in parentheses, may contain spaces.
      const fields = read('stat').split(') ')[1]?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    },
    stop: async () => {
      started.delete(miniflare);
      await miniflare.dispose();
    },
  };
};

const POLL_INTERVAL_MS = 200;
const IDLE_SHARE = 0.1;

/** Waits until every runtime is idle, so that background work does not affect the next measurement. */
export const untilIdle = async (runtimes: Runtime[], timeoutMs = 120_000): Promise<number> => {
  const total = () => runtimes.reduce((sum, { cpuMs }) => sum + cpuMs(), 0);
  const startMs = performance.now();
  for (let before = total(); ;) {
    await delay(POLL_INTERVAL_MS);
    const now = total();
    const waitedMs = performance.now() - startMs;
    if (now - before <= IDLE_SHARE * POLL_INTERVAL_MS) return waitedMs - POLL_INTERVAL_MS;
    if (waitedMs > timeoutMs) throw new Error('A runtime did not become idle.');
    before = now;
  }
};
