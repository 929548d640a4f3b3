// The runtimes of `npm run test:worst`. As in production, D1 is a process of its own that all share, and the neighbor's Worker
// and gate have another thread and disk than the attackers'. These and D1 have one of two cores, and the neighbor the other.
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { buildWorker, SERVICE_CONFIG } from '../../bench/build.ts';
import { bundleFixture } from '../../bench/references.ts';
import { type Runtime, startWorker } from '../../bench/runtime.ts';
import { migrate, openPlace, type Running, start } from '../../bench/service.ts';
import type { Answered, Order } from '../attackers.ts';

const THEIR_CORE = '0';
const OUR_CORE = '1';

/** Other work on the machine comes after all of these processes, where a user may decide that. */
const pin = (pid: number | string, core: string) => {
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, ['--all-tasks', ...args, String(pid)], { stdio: 'ignore' });
  run('taskset', '--pid', '--cpu-list', core);
  try {
    run('chrt', '--rr', '--pid', '1');
  } catch {
    // Only root may.
  }
};

export interface World {
  /** Runs D1 and nothing else. */
  database: Runtime;
  attacked: Running;
  /** Its Workers and objects share only D1 with the others. */
  elsewhere: Running;
  databaseMiB: () => number;
}

const SETTINGS = { MAIL_FROM: 'latchkey@example.com' };

/** The folders are on different disks, if there are any: `theirs` of the attackers and D1, `ours` of the neighbor elsewhere. */
export const startWorld = async ({ theirs, ours }: Record<'theirs' | 'ours', string>): Promise<World> => {
  const shared = join(theirs, 'shared');
  for (const folder of [shared, join(theirs, 'database')]) mkdirSync(folder);
  const database = await startWorker(bundleFixture(ours, 'empty'), {
    name: 'database',
    folder: join(theirs, 'database'),
    sharedFolder: shared,
  });
  const bundle = buildWorker(SERVICE_CONFIG, join(ours, 'bundle'));
  const places = { attacked: openPlace(theirs, 'attacked'), elsewhere: openPlace(ours, 'elsewhere') };
  const attacked = await start(bundle, places.attacked, true, SETTINGS, shared);
  const { secrets } = places.attacked;
  const elsewhere = await start(bundle, { ...places.elsewhere, secrets }, false, SETTINGS, shared);
  await migrate(attacked.runtime);
  pin(database.pid, THEIR_CORE);
  pin(attacked.runtime.pid, THEIR_CORE);
  pin(elsewhere.runtime.pid, OUR_CORE);
  pin(process.pid, OUR_CORE);
  const databaseMiB = () => {
    const files = readdirSync(join(shared, 'd1'), { recursive: true, withFileTypes: true });
    const bytes = files
      .filter((file) => file.isFile())
      .reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
    return bytes / 2 ** 20;
  };
  return { database, attacked, elsewhere, databaseMiB };
};

type Names = Record<Order['group'], string[]>;

/** A process that has ended answers nothing: without this, its caller would wait for good. */
const nextMessage = async <T>(child: ChildProcess): Promise<T> => {
  const end = new AbortController();
  const { signal } = end;
  const exited = once(child, 'exit', { signal }).then(([code, by]) => {
    throw new Error(`The attackers' process has ended: ${by ?? `exit code ${code}`}`);
  });
  try {
    const [message] = await Promise.race([once(child, 'message', { signal }), exited]);
    return message as T;
  } finally {
    end.abort();
  }
};

/** Starts the process of the attackers, who have an account with this address. */
export const startAttackers = async ({ attacked }: World, email: string) => {
  const child = fork(join(import.meta.dirname, '../attackers.ts'), [attacked.origin, email]);
  pin(child.pid ?? '', THEIR_CORE);
  const names = await nextMessage<Names>(child);
  return {
    names,
    send: async (order: Order): Promise<Answered[]> => {
      child.send(order);
      return nextMessage<Answered[]>(child);
    },
    stop: () => child.kill(),
  };
};

export type Attackers = Awaited<ReturnType<typeof startAttackers>>;
