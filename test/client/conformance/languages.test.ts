import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const EXAMPLES = join(import.meta.dirname, '../../../examples');

const run = (command: string, args: string[], name: string) =>
  spawnSync(command, args, { cwd: join(EXAMPLES, name), encoding: 'utf8', timeout: 600_000 });

/** The Python that is first in PATH may be another than the system's, for which Debian has an older PyJWT. */
const PYTHONS = ['python3', '/usr/bin/python3'];
const VERSION = ['-c', 'import cryptography, jwt; print(jwt.__version__)'];

/** By version of PyJWT: from 2.10 on, it refuses a `sub` that is no string. */
const pythons = new Map(
  PYTHONS.map((python) => [run(python, VERSION, 'python').stdout?.trim(), python] as const).filter(
    ([version]) => version,
  ),
);
const hasGo = run('go', ['version'], 'go').status === 0;

test('the example in Python does as the conformance files say, with each PyJWT that is here', ({ skip, annotate }) => {
  skip(pythons.size === 0, 'python3 with PyJWT and cryptography is not installed');
  for (const [version, python] of pythons) {
    void annotate(`PyJWT ${version}`);
    const { status, stdout, stderr } = run(python, ['-B', '-m', 'unittest'], 'python');
    expect([version, status], stdout + stderr).toEqual([version, 0]);
  }
});

test('the example in Go does as the conformance files say', ({ skip }) => {
  skip(!hasGo, 'go is not installed');
  const { status, stdout, stderr } = run('go', ['test', '-count=1', './...'], 'go');
  expect(status, stdout + stderr).toBe(0);
});
