// Packs the client package and installs the tarball into an empty project, as a stranger would.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../../support/service.ts';

const ROOT = join(import.meta.dirname, '../../../..');

const run = async (folder: string, ...command: string[]): Promise<string> => {
  const { code, stdout, stderr } = await runCommand(folder, ...command);
  if (code !== 0) throw new Error(`${command.join(' ')} failed:\n${stdout}${stderr}`);
  return stdout;
};

/** Returns the paths of the project and of the package's file, and what removes the project. */
export const installClient = async () => {
  const tarball = (await run(ROOT, 'npm', 'run', 'pack:client')).trim().split('\n').at(-1) ?? '';
  const project = await mkdtemp(join(tmpdir(), 'latchkey-stranger-'));
  await writeFile(
    join(project, 'package.json'),
    '{ "name": "stranger", "private": true, "type": "module" }\n',
  );
  // Without a network, npm can only install a package that has no dependencies.
  await run(project, 'npm', 'install', '--offline', '--no-audit', '--no-fund', tarball);
  return { project, tarball, remove: () => rm(project, { recursive: true, force: true }) };
};
