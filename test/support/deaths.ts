import { env } from 'cloudflare:workers';
import { vi } from 'vitest';
import { senderNow, sendMailsBy } from './mails.ts';

// A Worker that dies during a request: from a step on, nothing that the request does reaches D1 or a mailbox.

const statement = Object.getPrototypeOf(env.DB.prepare('SELECT 1')) as object;
const QUERIES = [
  { target: Object.getPrototypeOf(env.DB) as object, method: 'batch' },
  ...['all', 'raw', 'run', 'first'].map((method) => ({ target: statement, method })),
];

/** Longer than what follows a response takes to begin its next query. */
const QUIET_MS = 15;

/** Waits until the work that goes on after a response is over. */
const untilQuiet = async (stepsOf: () => number, isBusy: () => boolean): Promise<void> => {
  for (let before = -1; before !== stepsOf() || isBusy();) {
    before = stepsOf();
    await scheduler.wait(QUIET_MS);
  }
};

/**
 * Does `work` with a Worker that dies once D1 has done so many queries of it. What D1 has committed stays. Returns false if the
 * work, with what follows its response, has fewer queries.
 */
export const dieAfter = async (queries: number, work: () => Promise<unknown>): Promise<boolean> => {
  let begun = 0;
  let running = 0;
  const died = () => new Error('The Worker has died.');
  const spies = QUERIES.map(({ target, method }) => {
    const original = Reflect.get(target, method) as (...args: unknown[]) => Promise<unknown>;
    return vi.spyOn(target as Record<string, () => unknown>, method).mockImplementation(async function (
      this: unknown,
      ...args: unknown[]
    ) {
      const step = ++begun;
      if (step > queries) throw died();
      running++;
      try {
        const result = await original.apply(this, args);
        if (step === queries) throw died();
        return result;
      } finally {
        running--;
      }
    });
  });
  const send = senderNow();
  const restoreMail = sendMailsBy((mail: unknown) =>
    begun >= queries ? Promise.reject(died()) : send(mail),
  );
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  try {
    await work().catch(() => {});
    await untilQuiet(
      () => begun,
      () => running > 0,
    );
  } finally {
    for (const spy of [...spies, log]) spy.mockRestore();
    restoreMail();
  }
  return begun >= queries;
};
