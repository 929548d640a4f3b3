import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import vm from 'node:vm';
import { rolldown } from 'rolldown';

/** A change of the source of one shipped file, made while it is loaded. What is replaced must be in the file exactly once. */
export interface Edit {
  file: string;
  find: string;
  replace: string;
}

export type Shipped = typeof import('../shipped.ts');

/** What the runtime gives to each process: its clock, timers, random numbers and log. */
export interface Globals {
  Date: DateConstructor;
  Math: Math;
  setTimeout: (work: () => void, ms: number) => void;
  scheduler: { wait: (ms: number, options?: { signal?: AbortSignal }) => Promise<void> };
  crypto: Pick<Crypto, 'getRandomValues'>;
  console: Pick<Console, 'log' | 'error'>;
}
const NAMES = ['Date', 'Math', 'setTimeout', 'scheduler', 'crypto', 'console'] as const;

class DurableObject {
  readonly ctx: unknown;
  readonly env: unknown;

  constructor(ctx: unknown, env: unknown) {
    this.ctx = ctx;
    this.env = env;
  }
}

const root = join(import.meta.dirname, '../../..');
const require = createRequire(import.meta.url);
const EXTERNAL = ['drizzle-orm', 'drizzle-orm/d1', 'drizzle-orm/sqlite-core', 'node:crypto'];
const packages = Object.fromEntries(EXTERNAL.map((name) => [name, require(name) as unknown]));

/** Applies the edits of a file. Throws if one of them doesn't fit: the file has changed, and the edit has to follow. */
const applyEdits = (edits: readonly Edit[], used: Set<Edit>) => (code: string, id: string) =>
  edits
    .filter(({ file }) => file === relative(root, id))
    .reduce((text, edit) => {
      const places = text.split(edit.find).length - 1;
      if (places !== 1) throw new Error(`${edit.file} has ${places} times: ${edit.find}`);
      used.add(edit);
      return text.replace(edit.find, () => edit.replace);
    }, code);

/** Bundles the shipped code. The returned function starts it anew, as a process of its own. */
export const load = async (edits: readonly Edit[] = []) => {
  const used = new Set<Edit>();
  const bundle = await rolldown({
    input: join(root, 'test/simulation/shipped.ts'),
    // Nothing is erased here, and what erases knows all features.
    external: [/^cloudflare:/, /\/erasure\//, ...EXTERNAL],
    platform: 'neutral',
    plugins: [{ name: 'edits', transform: applyEdits(edits, used) }],
  });
  const { output } = await bundle.generate({ format: 'cjs' });
  await bundle.close();
  const unused = edits.find((edit) => !used.has(edit));
  if (unused) throw new Error(`${unused.file} isn't loaded.`);
  const run = new vm.Script(`((require, exports, ${NAMES.join(', ')}) => {${output[0].code}\n})`, {
    filename: 'shipped.js',
  }).runInThisContext() as (...args: unknown[]) => void;

  return (globals: Globals): { shipped: Shipped; isRetryable: (method: unknown) => boolean } => {
    const retryable = new Set<unknown>();
    const modules: Record<string, unknown> = {
      ...packages,
      'cloudflare:workers': { DurableObject },
      'cloudflare:durable-objects': {
        retryable: (...methods: unknown[]) => methods.forEach((method) => retryable.add(method)),
      },
    };
    const exports = {};
    run((name: string) => modules[name], exports, ...NAMES.map((name) => globals[name]));
    return { shipped: exports as Shipped, isRetryable: (method) => retryable.has(method) };
  };
};

export type Start = Awaited<ReturnType<typeof load>>;
