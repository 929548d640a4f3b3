import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** The command-line tool. */
export const CLI = join(import.meta.dirname, '../../../src/client/cli.ts');

/** Runs the tool without a terminal, and returns its exit status and what it has said. */
export const runCli = async (args: string[], variables: Record<string, string>) => {
  const env = { ...process.env, ...variables };
  const child = spawn(process.execPath, [CLI, ...args], { env });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const status = await new Promise((resolve) => child.on('close', resolve));
  return { status, stdout, stderr };
};
