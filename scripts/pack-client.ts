// `npm run pack:client`: builds the client package from src/client, and prints the path of its tarball as the last line.
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';

const root = join(import.meta.dirname, '..');
const source = join(root, 'src/client');
const out = join(root, 'dist/client');
const staged = join(out, 'package');
const types = join(root, 'dist/types/client');
const ENTRIES = ['index', 'node', 'api', 'cli'];

const run = (command: string, ...args: string[]): string => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: staged, encoding: 'utf8' });
  if (status === 0) return stdout;
  throw new Error(`${command} failed:\n${stdout}${stderr}`);
};

const bundle = async () => {
  const build = await rolldown({
    input: Object.fromEntries(ENTRIES.map((name) => [name, join(source, `${name}.ts`)])),
    platform: 'node',
    external: [/^node:/],
  });
  await build.write({ dir: join(staged, 'dist'), minify: true, chunkFileNames: '[name]-[hash].js' });
  await build.close();
};

/** The declarations import `./x.ts`, because the sources do. In the package, the same file is `./x.js`. */
const copyTypes = () => {
  run('tsc', '-b', source);
  for (const file of globSync('**/*.d.ts', { cwd: types })) {
    const to = join(staged, 'types', file);
    mkdirSync(dirname(to), { recursive: true });
    const text = readFileSync(join(types, file), 'utf8');
    writeFileSync(to, text.replace(/(["']\.{1,2}\/[^"']+)\.ts(["'])/g, '$1.js$2'));
  }
};

rmSync(out, { recursive: true, force: true });
mkdirSync(staged, { recursive: true });
for (const file of ['package.json', 'README.md']) cpSync(join(source, file), join(staged, file));
cpSync(join(root, 'LICENSE'), join(staged, 'LICENSE'));
await bundle();
copyTypes();
const [packed] = JSON.parse(run('npm', 'pack', '--json', '--pack-destination', out)) as {
  filename: string;
}[];
console.log(join(out, packed?.filename ?? ''));
