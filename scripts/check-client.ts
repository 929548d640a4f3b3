// `npm run check:client`: packs the client package, and checks its size, its types as consumers see them, and its exports.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { packClient } from './client-package.ts';

/** Of what an application's bundler makes of the package's file. The core's goal is 7 KB, 7,168 bytes. */
const MAX_CORE_BYTES = 8_400;
const MAX_NODE_BYTES = 4_000;

const root = join(import.meta.dirname, '..');

const run = (command: string, ...args: string[]): string => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  if (status === 0) return stdout;
  throw new Error(`${command} failed:\n${stdout}${stderr}`);
};

const tarball = await packClient();
run('attw', tarball);
run('publint', tarball, '--strict');

const sizeOf = async (name: string) => {
  const file = join(root, 'dist/client/package/dist', name);
  if (/\bfrom\s*["'](?!node:)/.test(readFileSync(file, 'utf8')))
    throw new Error(`${name} imports another file.`);
  const build = await rolldown({ input: file, platform: 'node', external: [/^node:/] });
  const { output } = await build.generate({ minify: true, comments: false });
  await build.close();
  return gzipSync(output[0].code).length;
};

const core = await sizeOf('index.js');
const node = (await sizeOf('node.js')) - core;
console.log(
  `Client: core ${core} bytes gzipped (limit ${MAX_CORE_BYTES}), node ${node} more (${MAX_NODE_BYTES})`,
);
if (core > MAX_CORE_BYTES || node > MAX_NODE_BYTES) process.exit(1);
