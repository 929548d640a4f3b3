// Copies an example next to the installed package, fills in its configuration, and runs it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { project, type Seller, service } from './application.ts';
import { sendInput } from './run-cli.ts';

export const EXAMPLES = join(import.meta.dirname, '../../../../examples');

/** Returns the folder of a copy. It has an application's configuration if it gets a seller. */
export const copyExample = async (
  name: string,
  seller?: Pick<Seller, 'apiKey' | 'keys'>,
  baseUrl = service.origin,
) => {
  const folder = await mkdtemp(join(project, `${name}-`));
  await cp(join(EXAMPLES, name), folder, { recursive: true });
  await symlink(join(project, 'node_modules'), join(folder, 'node_modules'));
  if (seller) {
    const { apiKey, keys } = seller;
    await writeFile(join(folder, 'latchkey.json'), JSON.stringify({ baseUrl, apiKey }));
    await writeFile(join(folder, 'latchkey-keys.json'), JSON.stringify(keys));
  }
  return folder;
};

export type Env = Record<string, string>;

/** A container has no machine id, so each folder of settings is a machine of its own. */
export const WITHOUT_ID: Env = { KUBERNETES_SERVICE_HOST: '192.0.2.1' };

const launch = (folder: string, args: string[], env: Env) => {
  const child = spawn(process.execPath, args, { cwd: folder, env: { ...process.env, ...env } });
  const printed = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (text: string) => (printed[stream] += text));
  return { child, printed };
};

/** Runs a script of an example to its end. */
export const runExample = async (folder: string, args: string[], env: Env = {}, input = '') => {
  const { child, printed } = launch(folder, args, env);
  sendInput(child, input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...printed };
};

/** Starts a script that goes on, and returns the URL that it prints. It ends with the test. */
export const startExample = async (folder: string, args: string[], env: Env = {}): Promise<string> => {
  const { child, printed } = launch(folder, args, env);
  onTestFinished(() => end(child));
  for (;;) {
    const [, url] = /(http:\/\/\S+)/.exec(printed.stdout) ?? [];
    if (url) return url;
    await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
    if (child.exitCode !== null) throw new Error(`${args.join(' ')} ended:\n${printed.stderr}`);
  }
};

const end = async (child: ChildProcess) => {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'close');
};
