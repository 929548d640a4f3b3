// Compares every import of src/ with the list in layers.ts, after a test of the comparison itself.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCircle, type Import, importsOf } from './imports.ts';
import { EXCEPTIONS, type Layer, LAYERS, PACKAGES } from './layers.ts';

const isIn = (file: string, place: string): boolean => {
  const names = file.split('/');
  return place.split('/').every((name, i) => name === '*' || name === names[i]);
};

const layerOf = (file: string): Layer | undefined => LAYERS.find(({ files }) => isIn(file, files));

const packageProblem = (layer: Layer, name: string): string | null => {
  const importers = PACKAGES[name];
  if (!importers) return 'PACKAGES doesn’t have it';
  return importers.some((place) => isIn(layer.files, place)) ? null : `only ${importers.join(', ')} may`;
};

/** Returns what is wrong with an import, or null. */
const problemOf = ({ file, target, isPackage, isType }: Import): string | null => {
  const from = layerOf(file);
  const to = isPackage ? undefined : layerOf(target);
  if (!from) return 'its importer is in no layer';
  if (isPackage) return packageProblem(from, target);
  if (!to) return 'it is in no layer';
  if (from === to) return from.isApart ? `files of ${from.files} don’t import one another` : null;
  if (from.types?.some((place) => isIn(target, place)))
    return isType ? null : `${from.files} imports only its types`;
  if (LAYERS.indexOf(to) < LAYERS.indexOf(from)) return `${to.files} is above ${from.files}`;
  if (from.only && !from.only.some((place) => isIn(target, place)))
    return `${from.files} imports only ${from.only.join(', ') || 'its own files'}`;
  return null;
};

/** Returns a line for everything that is wrong with imports. */
const check = (imports: Import[], exceptions: [file: string, target: string][] = []): string[] => {
  const isBetween = ({ file, target }: Import, [from, to]: [string, string]) =>
    file === from && target === to;
  const usual = imports.filter((each) => !exceptions.some((exception) => isBetween(each, exception)));
  const unusual = imports.filter((each) => !usual.includes(each) && problemOf(each) !== null);
  const circle = findCircle(usual);
  return [
    ...usual
      .filter((each) => problemOf(each) !== null)
      .map((each) => `src/${each.file} imports ${each.target}: ${problemOf(each)}.`),
    ...exceptions
      .filter((exception) => !unusual.some((each) => isBetween(each, exception)))
      .map(([file, target]) => `src/${file} may import ${target}, but needn’t: remove the exception.`),
    ...(circle ? [`A circle of imports: ${circle.join(' → ')}.`] : []),
  ];
};

const REFUSED: [file: string, statement: string][] = [
  ['billing/x.ts', `import { Hono } from 'hono';`],
  ['billing/x.ts', `export { html } from 'hono/html';`],
  ['billing/x.ts', `import { left } from 'left-pad';`],
  ['billing/x.ts', 'await import(name);'],
  ['a-new-feature/x.ts', `import './y.ts';`],
  ['licenses/x.ts', `import { licenseRoutes } from './routes.ts';`],
  ['licenses/x.ts', `import type { App } from '../app.ts';`],
  ['licenses/x.ts', `import '../http/errors';`],
  ['licenses/x.ts', `await import('../billing/check.ts');`],
  ['licenses/schemas.ts', `import type { endpoint } from '../auth/endpoint.ts';`],
  ['licenses/routes.ts', `import { productRoutes } from '../products/routes.ts';`],
  ['http/x.ts', `import '../licenses/find.ts';`],
  ['gate/home/x.ts', `type Branch = import('../branch/gate-branch.ts').GateBranch;`],
  ['gate/worker/x.ts', `import { AccountGate } from '../home/account-gate.ts';`],
  ['gate/rules/x.ts', `import '../../shared/text/ids.ts';`],
  ['db/schema/x.ts', `export * from '../../gate/worker/commit.ts';`],
  ['shared/rules/x.ts', `import '../text/ids.ts';`],
  ['shared/rules/x.ts', `import 'node:crypto';`],
  ['client/core/x.ts', `import '../../shared/rules/csv.ts';`],
  ['client/node/x.ts', `import type { Ctx } from '../../db/ctx.ts';`],
  ['web/pages/products/x.tsx', `import type { find } from '../../../products/products.ts';`],
  ['web/data/x.ts', `import { type App } from '../../app.ts';`],
];

const ALLOWED: typeof REFUSED = [
  ['billing/routes.ts', `import { Hono } from 'hono';`],
  ['activations/x.ts', `import '../licenses/find.ts';`],
  ['licenses/routes.ts', `import '../erasure/license.ts';`],
  ['licenses/x.ts', `import { commit } from '../gate/worker/commit.ts';`],
  ['licenses/x.ts', `import text from './x.css';`],
  ['gate/home/x.ts', `import '../rules/limits.ts';`],
  ['gate/worker/x.ts', `import type { AccountGate } from '../home/account-gate.ts';`],
  ['client/cli/x.ts', `import '../../shared/rules/csv.ts';`],
  ['web/pages/licenses/x.tsx', `import { read } from '../products/terms.ts';`],
  ['web/data/x.ts', `import type { App } from '../../app.ts';`],
];

/** Files that import one another in a circle, which may be one of folders. */
const CIRCLES: (typeof REFUSED)[] = [
  [
    ['db/x.ts', `import type { Y } from './y.ts';`],
    ['db/y.ts', `import { x } from './x.ts';`],
  ],
  [
    ['web/pages/keys/x.ts', `import '../home/x.ts';`],
    ['web/pages/home/y.ts', `import '../keys/y.ts';`],
  ],
];

const checkPlanted = (planted: typeof REFUSED) =>
  check(planted.flatMap(([file, text]) => importsOf(file, text)));

const testCheck = (): string[] => {
  const errors = (planted: (typeof REFUSED)[], isRefused: boolean) =>
    planted
      .filter((files) => checkPlanted(files).length > 0 !== isRefused)
      .map((files) => `This check ${isRefused ? 'allows' : 'refuses'} ${files.flat().join(' ')}`);
  return [
    ...errors([...REFUSED.map((each) => [each]), ...CIRCLES], true),
    ...errors(
      ALLOWED.map((each) => [each]),
      false,
    ),
    ...(check([], [['db/x.ts', 'http/errors.ts']]).length > 0
      ? []
      : ['This check allows a needless exception.']),
  ];
};

const files = globSync('**/*.{ts,tsx}', { cwd: 'src' }).filter((file) => !file.endsWith('.d.ts'));
const imports = files.flatMap((file) => importsOf(file, readFileSync(join('src', file), 'utf8')));
const problems = [
  ...testCheck(),
  ...files.filter((file) => !layerOf(file)).map((file) => `src/${file} is in no layer.`),
  ...LAYERS.filter((layer) => !files.some((file) => layerOf(file) === layer)).map(
    (layer) => `No file is in the layer ${layer.files}.`,
  ),
  ...check(imports, EXCEPTIONS),
];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
