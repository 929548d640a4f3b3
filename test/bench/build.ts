// Bundles a Worker with `wrangler deploy --dry-run`.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { unstable_readConfig } from 'wrangler';

export const ROOT = join(import.meta.dirname, '../..');
export const SERVICE_CONFIG = join(ROOT, 'wrangler.toml');
export const fixturePath = (name: string) => join(import.meta.dirname, 'fixtures', `${name}.ts`);

interface Metafile {
  inputs: Record<string, { imports: { path: string; kind: string }[] }>;
  outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }>; entryPoint?: string }>;
}

export interface Bundle {
  config: string;
  /** The bundled module. */
  script: string;
  bytes: number;
  gzippedBytes: number;
  /** Bytes of modules that are evaluated on first use, by package or file. */
  lazyBytes: Record<string, number>;
}

/** Returns the modules that run at start-up, because the entry reaches them without a dynamic import. */
const eagerInputs = ({ inputs }: Metafile, entry: string) => {
  const eager = new Set([entry]);
  for (const path of eager) {
    for (const { path: to, kind } of inputs[path]?.imports ?? []) {
      if (kind !== 'dynamic-import') eager.add(to);
    }
  }
  return eager;
};

const originOf = (path: string) =>
  /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path.replace(/^(?:\.\.\/)*/, '');

const lazyBytes = (metafile: Metafile): Record<string, number> => {
  const output = Object.values(metafile.outputs).find(({ entryPoint }) => entryPoint !== undefined);
  if (!output?.entryPoint) throw new Error('The bundle has no entry point.');
  const eager = eagerInputs(metafile, output.entryPoint);
  const bytes: Record<string, number> = {};
  for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
    if (!eager.has(path) && bytesInOutput > 0) {
      bytes[originOf(path)] = (bytes[originOf(path)] ?? 0) + bytesInOutput;
    }
  }
  return bytes;
};

/** `entry` replaces the entry point of the configuration. */
export const buildWorker = (config: string, folder: string, entry?: string): Bundle => {
  const args = ['deploy', ...(entry === undefined ? [] : [entry]), '--config', config];
  execFileSync(
    join(ROOT, 'node_modules/.bin/wrangler'),
    [...args, '--dry-run', '--outdir', folder, '--metafile'],
    {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, CI: 'true', WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' },
    },
  );
  const main = entry ?? unstable_readConfig({ config }).main ?? '';
  const script = join(folder, basename(main).replace(/\.ts$/, '.js'));
  const source = readFileSync(script);
  return {
    config,
    script,
    bytes: source.length,
    gzippedBytes: gzipSync(source).length,
    lazyBytes: lazyBytes(JSON.parse(readFileSync(join(folder, 'bundle-meta.json'), 'utf8')) as Metafile),
  };
};

/**
 * Lifts the rate limit of all keys of an account together, because one account stands for many: its gate answers more
 * calls per second than any plan allows. Not higher than needed: a gate remembers the ids of all calls of twelve seconds.
 */
export const liftAccountRate = (bundle: Bundle): Bundle => {
  const source = readFileSync(bundle.script, 'utf8');
  const lifted = source.replace(/accountCallsPerSecond: [\de_]+/g, 'accountCallsPerSecond: 1e4');
  if (lifted === source) throw new Error('The bundle has no account rate to lift.');
  writeFileSync(bundle.script, lifted);
  return bundle;
};

/** Builds a fixture Worker as the service is built. */
export const buildFixture = (name: string, folder: string, bindings: object = {}): Bundle => {
  const { compatibility_date, compatibility_flags, keep_names } = unstable_readConfig({
    config: SERVICE_CONFIG,
  });
  const config = join(folder, 'wrangler.json');
  mkdirSync(folder, { recursive: true });
  const main = fixturePath(name);
  const built = { name, main, compatibility_date, compatibility_flags, keep_names, ...bindings };
  writeFileSync(config, JSON.stringify(built));
  return buildWorker(config, join(folder, 'out'));
};
