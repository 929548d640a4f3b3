// Checks that the dashboard says nothing in the words that its README has another one for.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const README = 'src/web/README.md';
const HEADING = '## Words';
const ROW = /^\| ([^|]+) \| [^|]+ \| ([^|]+) \|$/gm;

const section = readFileSync(README, 'utf8').split(HEADING)[1]?.split(/^#/m)[0] ?? '';
const rules = [...section.matchAll(ROW)].slice(1).flatMap(([, say = '', not = '']) =>
  not
    .split(', ')
    .filter((word) => word !== '—')
    .map((word) => ({ say, word, pattern: new RegExp(String.raw`\b${word}\b`, 'i') })),
);
if (rules.length === 0) throw new Error(`${README} has no words under “${HEADING}”.`);

/** The text between tags, and strings but for classes and what the palette also finds. Text has a space, or one capital letter. */
const TEXTS =
  />([^<>{}=;]+)[<{]|(?<!className=|keywords: )(?<quote>['"`])((?:(?!\k<quote>)[^\n\\]|\\.)*)\k<quote>/g;
const isText = (text: string) => /[a-z] [a-z]/i.test(text) || /^[A-Z][a-z]+$/.test(text);
const withoutComments = (source: string) =>
  source.replace(/\/\*[\s\S]*?\*\/|\$\{[^}]*\}/g, '').replace(/^\s*(?:\/\/|import ).*$/gm, '');

const FOLDERS = ['data', 'lib', 'pages', 'portal', 'shell', 'ui'].map((folder) => `src/web/${folder}/`);
const files = execFileSync('git', ['ls-files', ...FOLDERS], { encoding: 'utf8' });
for (const file of files.trim().split('\n')) {
  const source = withoutComments(readFileSync(file, 'utf8'));
  for (const [, between, , quoted] of source.matchAll(TEXTS)) {
    const text = (between ?? quoted ?? '').trim();
    if (!isText(text)) continue;
    for (const { say, word, pattern } of rules) {
      if (!pattern.test(text)) continue;
      console.error(`${file}: “${text}” says “${word}” for “${say}”`);
      process.exitCode = 1;
    }
  }
}
