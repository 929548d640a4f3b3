// Checks that the lint rules enforce the layers. It lints files with forbidden and with allowed imports, because a lint
// rule that matches nothing would go unnoticed.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** `#` in a file's name makes it unique. */
const REFUSED: [file: string, imported: string][] = [
  ['billing/#.ts', 'hono'],
  ['webhooks/#.ts', 'hono/html'],
  ['webhooks/#.ts', './routes.ts'],
  ['licenses/#.ts', '../webhooks/routes.ts'],
  ['licenses/#.ts', '../app.ts'],
  ['licenses/#.ts', '../http/errors.ts'],
  ['licenses/#.ts', '../auth/authenticate.ts'],
  ['a-new-feature/#.ts', 'hono'],
  ['licenses/schemas.ts', 'hono'],
  ['licenses/routes.ts', '../app.ts'],
  ['auth/#.ts', '../licenses/find.ts'],
  ['http/#.ts', '../auth/endpoint.ts'],
  ['gate/#.ts', '../webhooks/post.ts'],
  ['gate/#.ts', '../http/errors.ts'],
  ['gate/#.ts', '../app.ts'],
  ['gate/home/#.ts', '../../webhooks/post.ts'],
  ['gate/home/#.ts', 'hono'],
  ['gate/moving/#.ts', '../../http/errors.ts'],
  ['db/#.ts', '../gate/feed.ts'],
  ['db/schema/#.ts', '../../gate/feed.ts'],
  ['shared/#.ts', '../db/client.ts'],
  ['shared/rules/#.ts', '../ids.ts'],
  ['shared/rules/#.ts', 'node:crypto'],
  ['shared/rules/#.ts', 'zod'],
  ['client/#.ts', '../shared/ids.ts'],
  ['client/node/#.ts', '../../shared/ids.ts'],
  ['client/core/#.ts', 'node:crypto'],
  ['client/core/#.ts', '../node/file-store.ts'],
  ['client/core/#.ts', '../../shared/rules/csv.ts'],
  ['web/#.ts', '../shared/ids.ts'],
  ['web/pages/#.ts', '../../gate/feed.ts'],
];

const ALLOWED: typeof REFUSED = [
  ['licenses/#.ts', '../auth/sessions.ts'],
  ['licenses/#.ts', '../gate/feed.ts'],
  ['webhooks/schemas.ts', '../http/input.ts'],
  ['auth/#.ts', '../http/errors.ts'],
  ['http/#.ts', '../db/ctx.ts'],
  ['gate/#.ts', '../shared/rules/plans.ts'],
  ['gate/home/#.ts', '../../shared/rules/plans.ts'],
  ['gate/home/#.ts', '../object/ledger.ts'],
  ['db/schema/#.ts', '../../shared/rules/plans.ts'],
  ['shared/#.ts', './rules/dates.ts'],
  ['shared/rules/#.ts', './dates.ts'],
  ['client/#.ts', './core/license.ts'],
  ['client/node/#.ts', '../core/license.ts'],
  ['client/cli/#.ts', 'node:fs'],
  ['client/cli/#.ts', '../../shared/rules/csv.ts'],
  ['web/#.ts', '../shared/rules/dates.ts'],
];

const root = mkdtempSync(join(tmpdir(), 'latchkey-layers-'));

const plant = ([file, imported]: [string, string], i: number) => {
  const path = join('src', file.replace('#', `planted-${i}`));
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), `import { x } from '${imported}';\nexport const y = x;\n`);
  return { path, imported, isRefused: i < REFUSED.length };
};

try {
  cpSync('.oxlintrc.json', join(root, '.oxlintrc.json'));
  const planted = [...REFUSED, ...ALLOWED].map(plant);
  const { stdout } = spawnSync('oxlint', ['--format=json', 'src'], { cwd: root, encoding: 'utf8' });
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string; filename: string }[] };
  const refused = new Set(
    diagnostics.filter(({ code }) => code.includes('no-restricted-imports')).map(({ filename }) => filename),
  );
  for (const { path, imported, isRefused } of planted) {
    if (refused.has(path) === isRefused) continue;
    console.error(`The linter ${isRefused ? 'allows' : 'refuses'} an import of ${imported} in ${path}.`);
    process.exitCode = 1;
  }
} finally {
  rmSync(root, { recursive: true });
}
