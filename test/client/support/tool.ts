import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** The command-line tool. */
export const CLI = join(import.meta.dirname, '../../../src/client/cli.ts');

/** What comes before a command that can't write to any file, as on a full disk. */
const FULL_DISK = ['sh', '-c', 'ulimit -f 0; exec "$@"', 'sh'];

/** Runs the tool without a terminal, and returns its exit status and what it has said. */
export const runCli = async (args: string[], variables: Record<string, string>, isDiskFull = false) => {
  const env = { ...process.env, ...variables };
  const [command = '', ...rest] = [...(isDiskFull ? FULL_DISK : []), process.execPath, CLI, ...args];
  const child = spawn(command, rest, { env });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const status = await new Promise((resolve) => child.on('close', resolve));
  return { status, stdout, stderr };
};
