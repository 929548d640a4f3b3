// The client package among the static assets: every version that was released, and this checkout's if it isn't one of them.
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const assets = join(root, 'dist/assets/client');
/** `npm run release` puts a file here. */
const RELEASES = join(root, 'releases');

const newestFirst = (a: string, b: string) => b.localeCompare(a, 'en', { numeric: true });

const indexOf = (files: string[]) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>@latchkey/client</title>
<h1>@latchkey/client</h1>
<p>Install a version by the address of its file: <code>npm install</code>, a space, and the address.</p>
<ul>
${files.map((file) => `<li><a href="${file}">${file}</a></li>`).join('\n')}
</ul>
`;

export const addClient = async (tarball: string) => {
  await mkdir(assets, { recursive: true });
  await cp(tarball, join(assets, basename(tarball)));
  // What was released never changes, because lock files contain its hash. So it comes last.
  if (existsSync(RELEASES)) await cp(RELEASES, assets, { recursive: true });
  const files = (await readdir(assets)).filter((file) => file.endsWith('.tgz')).toSorted(newestFirst);
  await writeFile(join(assets, 'index.html'), indexOf(files));
};
