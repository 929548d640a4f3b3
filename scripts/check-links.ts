// Checks that the file and heading exist for every relative link and image in the tracked Markdown files, and every path that
// they name as code: from the repository's root, such as `src/app.ts`, or from a folder beside the file.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { createAnchors } from './guides/anchors.ts';

const CODE = /^(```|~~~).*?^\1$|`(?:[^`\n]|\n(?!\n))*`/gms;
/** `[text](target)`, `![alt](target)` and `[label]: target`. */
const LINK = /\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)|^\[[^\]]+\]:\s+<?([^\s>]+)/gm;
const EXTERNAL = /^[a-z][a-z0-9+.-]*:/i;

const anchorsOf = (markdown: string): Set<string> => {
  const anchorOf = createAnchors();
  // Only fenced code can contain a line that looks like a heading.
  const text = markdown.replace(/^(```|~~~).*?^\1$/gms, '');
  return new Set(
    [...text.matchAll(/^#{1,6} +(.+?)(?: +#+)?$/gm)].map(([, heading = '']) => anchorOf(heading)),
  );
};

const problemWith = (file: string, link: string): string | null => {
  const [path = '', anchor] = decodeURI(link).split('#');
  const target = path === '' ? file : normalize(join(path.startsWith('/') ? '.' : dirname(file), path));
  if (!existsSync(target)) return 'there is no such file';
  if (anchor === undefined || !target.endsWith('.md')) return null;
  return anchorsOf(readFileSync(target, 'utf8')).has(anchor) ? null : 'there is no such heading';
};

/** A path from the repository's root. Paths with placeholders are not checked. */
const NAMED_PATH = /`((?:src|test|scripts|drizzle|docs|examples|conformance|\.ci)\/[\w./-]*)`/g;
/** A file in a folder. It is looked for if the folder is beside the Markdown file. */
const NAMED_FILE = /`([\w-]+)(\/[\w./-]+\.tsx?)`/g;
const files = execFileSync('git', ['ls-files', '-z', '--', '*.md'], { encoding: 'utf8' })
  .split('\0')
  .filter((file) => file !== '' && existsSync(file));

const broken = files.flatMap((file) =>
  [...readFileSync(file, 'utf8').replace(CODE, '').matchAll(LINK)].flatMap(([, inline, reference]) => {
    const link = inline ?? reference ?? '';
    const problem = EXTERNAL.test(link) ? null : problemWith(file, link);
    return problem === null ? [] : [`${file}: ${link}: ${problem}`];
  }),
);

const namedIn = (file: string): string[] => {
  const text = readFileSync(file, 'utf8');
  const fromRoot = [...text.matchAll(NAMED_PATH)].map(([, path = '']) => path);
  const fromHere = [...text.matchAll(NAMED_FILE)]
    .map(([, folder = '', rest = '']) => [join(dirname(file), folder), rest] as const)
    .filter(([folder]) => existsSync(folder));
  return [...fromRoot, ...fromHere.map(([folder, rest]) => folder + rest)];
};

const missing = files.flatMap((file) =>
  namedIn(file).flatMap((path) => (existsSync(path) ? [] : [`${file}: ${path}: there is no such file`])),
);

if (broken.length + missing.length > 0) {
  console.error([...broken, ...missing].join('\n'));
  process.exitCode = 1;
}
