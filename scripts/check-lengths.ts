// Limits the lines of a source file, and those of the page that a contributor reads first.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const MAX_LINES: [pattern: string, lines: number][] = [
  ['*.ts', 250],
  ['*.tsx', 250],
  ['CONTRIBUTING.md', 120],
];

for (const [pattern, most] of MAX_LINES) {
  const files = execFileSync('git', ['ls-files', '-z', '--', pattern], { encoding: 'utf8' }).split('\0');
  for (const file of files.filter((name) => name !== '' && existsSync(name))) {
    const lines = readFileSync(file, 'utf8').split('\n').length - 1;
    if (lines <= most) continue;
    console.error(`${file} has ${lines} lines, of at most ${most}.`);
    process.exitCode = 1;
  }
}
