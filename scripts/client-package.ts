// The client package, built from src/client: ES modules, the same as CommonJS, and their types.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { rolldown } from 'rolldown';
import { buildIfChanged } from './up-to-date.ts';

const root = join(import.meta.dirname, '..');
const source = join(root, 'src/client');
const out = join(root, 'dist/client');
/** Not among the sources otherwise, because a build writes it. */
const API_TYPES = 'src/client/api/schema.ts';
const staged = join(out, 'package');
const types = join(root, 'dist/types');
/** Each is a file of its own, because no application loads two of them. */
const ENTRIES = ['index', 'node', 'api', 'cli'];
/** Those that an application loads, which may be CommonJS. Node.js loads ES modules with `require` only since 20.19 and 22.12. */
const LIBRARIES = ['index', 'node', 'api'];

/** The name of the file that `npm pack` writes. */
export const clientFile = (): string => {
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { version: string };
  return `latchkey-client-${version}.tgz`;
};

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
  // Of the core, pages load the file as it is. Node.js prints the line that threw, which must not be all of the package.
  const minify = name === 'index' || { mangle: false, codegen: { removeWhitespace: false } };
  const output = { minify, comments: false } as const;
  await build.write({ ...output, file: join(staged, 'dist', `${name}.js`), sourcemap: true });
  if (LIBRARIES.includes(name))
    await build.write({
      ...output,
      file: join(staged, 'cjs', `${name}.js`),
      format: 'cjs',
      exports: 'named',
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
  const vendor = relative(dirname(file), 'vendor');
  const withoutPackages = Object.keys(VENDORED).reduce(
    (code, name) => code.replaceAll(`'${name}'`, `'./${join(vendor, name)}.js'`),
    text,
  );
  const types = withoutPackages.replace(/(["']\.{1,2}\/[^"']+)\.ts(["'])/g, '$1.js$2');
  // What a declaration describes, an ES module or CommonJS, follows from the package.json that is nearest to it.
  for (const folder of ['types', 'cjs/types']) {
    const to = join(staged, folder, file);
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, types);
  }
};

const copyTypes = () => {
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

const pack = async () => {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(staged, { recursive: true });
  for (const file of ['package.json', 'README.md']) cpSync(join(source, file), join(staged, file));
  cpSync(join(root, 'LICENSE'), join(staged, 'LICENSE'));
  for (const name of ENTRIES) await bundle(name);
  writeFileSync(join(staged, 'cjs/package.json'), '{ "type": "commonjs" }\n');
  copyTypes();
  writeNotices();
  run('npm', 'pack', '--pack-destination', out);
};

/** Builds the package unless it is up to date, and returns the path of its tarball. */
export const packClient = async (): Promise<string> => {
  // The API's types follow from all routes.
  execFileSync('node', ['scripts/api-types/generate.ts'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await buildIfChanged({
    to: 'dist/client',
    sources: ['src/client', API_TYPES, 'src/shared/rules', 'scripts/client-package.ts', 'LICENSE'],
    build: pack,
  });
  return join(out, clientFile());
};
