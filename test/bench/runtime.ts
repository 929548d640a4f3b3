// A Worker under Miniflare on a socket of its own, so that no development proxy stands before it.
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

/** The service's log: written, as deployed, and read by nobody. */
export const silenceWorkerd = (folder: string) => {
  const launcher = join(folder, 'workerd.sh');
  writeFileSync(launcher, `#!/bin/sh\necho $$ > "$BENCH_PID_FILE"\nexec "${workerd}" "$@" > /dev/null\n`, {
    mode: 0o755,
  });
  process.env['MINIFLARE_WORKERD_PATH'] = launcher;
};

export interface Settings {
  name: string;
  /** Where the data stays between two starts. */
  folder: string;
  bindings?: Record<string, string>;
  inspect?: boolean;
}

export interface Runtime {
  miniflare: Miniflare;
  origin: string;
  port: number;
  rssBytes: () => number;
  /** Processor time that the runtime has used so far. */
  cpuMs: () => number;
  stop: () => Promise<void>;
}

const optionsOf = ({ config, script }: Bundle, { name, folder, bindings, inspect }: Settings) => {
  // The router of static files would be a second Worker in front of the one that is measured.
  const {
    assets: _,
    modulesRules: _r,
    ...options
  } = unstable_getMiniflareWorkerOptions(config).workerOptions;
  return convertV4MiniflareOptions({
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
    ...(inspect && { inspectorPort: 0, unsafeInspectorProxy: true }),
  });
};

const started = new Set<Miniflare>();

/** Nothing that a run has started outlives it, however it ends. */
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
    miniflare,
    origin,
    port: Number(port),
    rssBytes: () => Number(/^VmRSS:\s+(\d+)/m.exec(read('status'))?.[1]) * 1_024,
    cpuMs: () => {
      // The process's name, in parentheses, may hold spaces.
      const fields = read('stat').split(') ')[1]?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    },
    stop: async () => {
      started.delete(miniflare);
      await miniflare.dispose();
    },
  };
};

const LOOK_EVERY_MS = 200;
const IDLE_SHARE = 0.1;

/** Waits until no runtime is at work any more, so that none is measured while another tidies up. */
export const untilIdle = async (runtimes: Runtime[], patienceMs = 120_000): Promise<number> => {
  const total = () => runtimes.reduce((sum, { cpuMs }) => sum + cpuMs(), 0);
  const beganMs = performance.now();
  for (let before = total(); ;) {
    await delay(LOOK_EVERY_MS);
    const now = total();
    const waitedMs = performance.now() - beganMs;
    if (now - before <= IDLE_SHARE * LOOK_EVERY_MS) return waitedMs - LOOK_EVERY_MS;
    if (waitedMs > patienceMs) throw new Error('A runtime does not come to rest.');
    before = now;
  }
};
