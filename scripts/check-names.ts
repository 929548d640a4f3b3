// Checks that no two exported types of src/ share a name, so that a name means one thing in the whole repository.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The client package has a public API, whose names are its own. */
const OWN = new Set(['src/client/core/types.ts']);
const EXPORTED = /^export (?:declare )?(?:interface|type|class) (\w+)/gm;

const files = execFileSync('git', ['ls-files', 'src/*.ts', 'src/*.tsx'], { encoding: 'utf8' })
  .trim()
  .split('\n');
const filesByName = new Map<string, string[]>();
for (const file of files.filter((name) => !OWN.has(name)))
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(EXPORTED))
    filesByName.set(name, [...(filesByName.get(name) ?? []), file]);

for (const [name, sharers] of filesByName) {
  if (sharers.length === 1) continue;
  console.error(`Two exported types have the name ${name}: ${sharers.join(', ')}`);
  process.exitCode = 1;
}
