import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { vi } from 'vitest';
import { gateIn } from './moving.ts';

interface Progress {
  dueMs: number;
  clearedMs: number | null;
}

/** How far a gate has come with what is to be erased. Null once it has nothing left to do. */
export const progressOf = (accountId: string, epoch = 1): Promise<Progress | null> =>
  runInDurableObject(
    gateIn(accountId, epoch),
    (_gate, { storage }) => storage.kv.get<Progress>('erasure') ?? null,
  );

/** Lets the time come at which the gate goes on, and runs its alarm. Returns how far it has come. */
export const runErasureAlarm = async (accountId: string, epoch = 1): Promise<Progress | null> => {
  const progress = await progressOf(accountId, epoch).catch(() => null);
  // A step that has failed for the first time is repeated within two seconds.
  if (progress) vi.setSystemTime(Math.max(Date.now() + 2_000, progress.dueMs));
  await runDurableObjectAlarm(gateIn(accountId, epoch)).catch(() => {});
  // Objects restart a little later.
  await scheduler.wait(25);
  return progressOf(accountId, epoch).catch(() => progress);
};

/** Far more than any of the tests needs. */
const MAX_ALARMS = 40;

/** Runs the gate's alarm until nothing is left to erase, with a fake clock. Returns how often it ran. */
export const finishErasure = async (accountId: string, epoch = 1): Promise<number> => {
  for (let alarms = 1; alarms <= MAX_ALARMS; alarms++)
    if ((await runErasureAlarm(accountId, epoch)) === null) return alarms;
  throw new Error(`The erasure of ${accountId} has not ended.`);
};

/** An environment in which the gates of these accounts are woken by another function. */
export const wakingBy = (wake: (accountId: string, wakeGate: () => Promise<void>) => Promise<void>): Env => ({
  ...env,
  GATE: new Proxy(env.GATE, {
    get: (namespace, property) =>
      property === 'getByName'
        ? (name: string) => ({
            eraseDue: (inMs: number) => wake(name, async () => namespace.getByName(name).eraseDue(inMs)),
          })
        : Reflect.get(namespace, property),
  }),
});
