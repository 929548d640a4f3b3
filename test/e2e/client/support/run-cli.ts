import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';

export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A process that reads no input may have ended before it gets it, on a busy machine. */
export const sendInput = ({ stdin }: ChildProcessWithoutNullStreams, input: string): void => {
  stdin.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  stdin.end(input);
};

/** Returns functions that run the installed `latchkey` as a process, with a configuration folder of its own. */
export const createCli = async (variables: Record<string, string> = {}) => {
  const file = join(inject('clientPackage').project, 'node_modules/.bin/latchkey');
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-cli-'));
  const own = { HOME: folder, XDG_CONFIG_HOME: join(folder, 'config') };
  const env = { ...process.env, LATCHKEY_URL: '', LATCHKEY_API_KEY: '', ...own, ...variables };

  const start = (...args: string[]) => {
    const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [file, ...args], {
      cwd: folder,
      env,
    });
    const printed = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream].setEncoding('utf8').on('data', (text: string) => {
        printed[stream] += text;
      });
    const ended = once(child, 'close').then(([code]): Run => ({ code: code as number | null, ...printed }));
    return { child, printed, ended };
  };

  return {
    folder,
    start,
    run: async (args: string[], input = ''): Promise<Run> => {
      const { child, ended } = start(...args);
      sendInput(child, input);
      return ended;
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
};

export type Cli = Awaited<ReturnType<typeof createCli>>;
