// `npm run pack:client`: builds the client package from src/client, and prints the path of its tarball as the last line.
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { rolldown } from 'rolldown';

const root = join(import.meta.dirname, '..');
const source = join(root, 'src/client');
const out = join(root, 'dist/client');
const staged = join(out, 'package');
const types = join(root, 'dist/types');
/** Each is a file of its own, because no application loads two of them. */
const ENTRIES = ['index', 'node', 'api', 'cli'];

const run = (command: string, ...args: string[]): string => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: staged, encoding: 'utf8' });
  if (status === 0) return stdout;
  throw new Error(`${command} failed:\n${stdout}${stderr}`);
};

const bundle = async (name: string) => {
  const build = await rolldown({
    input: join(source, `${name}.ts`),
    platform: 'node',
    external: [/^node:/],
  });
  await build.write({
    file: join(staged, 'dist', `${name}.js`),
    minify: true,
    comments: false,
    sourcemap: true,
  });
  await build.close();
};

/** Declarations of bundled packages go into the package too, so that it has no dependencies. */
const VENDORED: Record<string, string> = {
  'openapi-fetch': 'dist/index.d.mts',
  'openapi-typescript-helpers': 'dist/index.d.mts',
};

/** The sources' declarations import `./x.ts`. In the package, the same file is `./x.js`. */
const writeTypes = (file: string, text: string) => {
  const to = join(staged, 'types', file);
  mkdirSync(dirname(to), { recursive: true });
  const vendor = relative(dirname(file), 'vendor');
  const withoutPackages = Object.keys(VENDORED).reduce(
    (code, name) => code.replaceAll(`'${name}'`, `'./${join(vendor, name)}.js'`),
    text,
  );
  writeFileSync(to, withoutPackages.replace(/(["']\.{1,2}\/[^"']+)\.ts(["'])/g, '$1.js$2'));
};

const copyTypes = () => {
  run('node', join(root, 'scripts/api-types/generate.ts'));
  run('tsc', '-b', source);
  // The client's own types, and those of the rules that it shares with the service.
  for (const file of globSync('{client,shared}/**/*.d.ts', { cwd: types }))
    writeTypes(file, readFileSync(join(types, file), 'utf8'));
  for (const [name, path] of Object.entries(VENDORED))
    writeTypes(`vendor/${name}.d.ts`, readFileSync(join(root, 'node_modules', name, path), 'utf8'));
};

/** The licenses of the packages that the bundles contain. */
const writeNotices = () => {
  const names = [...Object.keys(VENDORED), 'picocolors', 'fast-string-width', 'fast-string-truncated-width'];
  const notices = names.map((name) => {
    const folder = join(root, 'node_modules', name);
    const [file = ''] = globSync('{LICENSE,license}*', { cwd: folder });
    return `${name}\n\n${readFileSync(join(folder, file), 'utf8')}`;
  });
  writeFileSync(join(staged, 'NOTICES'), notices.join(`\n${'-'.repeat(60)}\n\n`));
};

rmSync(out, { recursive: true, force: true });
mkdirSync(staged, { recursive: true });
for (const file of ['package.json', 'README.md']) cpSync(join(source, file), join(staged, file));
cpSync(join(root, 'LICENSE'), join(staged, 'LICENSE'));
for (const name of ENTRIES) await bundle(name);
copyTypes();
writeNotices();
const [packed] = JSON.parse(run('npm', 'pack', '--json', '--pack-destination', out)) as {
  filename: string;
}[];
console.log(join(out, packed?.filename ?? ''));
