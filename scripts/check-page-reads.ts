// Refuses tests that read a page once and compare: the page may be about to show what they expect. What must never be in a page
// is read at once, with `content()`.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const READS =
  'allInnerTexts|allTextContents|count|getAttribute|innerText|inputValue|is[A-Z][a-z]+|textContent|title';
const READ_ONCE = new RegExp(String.raw`expect\(\s*await (?:(?!expect\()[^;])*?\.(?:${READS})\(`, 'g');

const files = execFileSync('git', ['ls-files', 'test/e2e/*.ts'], { encoding: 'utf8' });
for (const file of files.trim().split('\n')) {
  const source = readFileSync(file, 'utf8');
  for (const { index } of source.matchAll(READ_ONCE)) {
    const line = source.slice(0, index).split('\n').length;
    console.error(
      `${file}:${line} reads the page once. Write await expect.poll(() => …) in place of expect(await …).`,
    );
    process.exitCode = 1;
  }
}
