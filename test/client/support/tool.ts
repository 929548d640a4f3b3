import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** The command-line tool. */
export const CLI = join(import.meta.dirname, '../../../src/client/cli.ts');

/** Runs a command that can't write to any file, as on a full disk. */
export const ON_FULL_DISK = 'ulimit -f 0; exec "$@"';

/**
 * Runs the tool without a terminal, and returns its exit status and what it has said. A shell script may run the tool, which
 * is its `"$@"`.
 */
export const runCli = async (args: string[], variables: Record<string, string>, script?: string) => {
  const env = { ...process.env, ...variables };
  const shell = script === undefined ? [] : ['sh', '-c', script, 'sh'];
  const [command = '', ...rest] = [...shell, process.execPath, CLI, ...args];
  const child = spawn(command, rest, { env });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const status = await new Promise((resolve) => child.on('close', resolve));
  return { status, stdout, stderr };
};
