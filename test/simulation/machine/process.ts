import type { Globals } from './load.ts';
import type { Random } from './random.ts';
import type { Clock, Time } from './time.ts';

interface Parts {
  name: string;
  time: Time;
  clock: Clock;
  random: Random;
  log: (text: () => string) => void;
}

/**
 * One life of an object or of an isolate of the Worker. When it is over, its timers don't run, and nothing that it waits for
 * ever comes.
 */
export const openProcess = ({ name, time, clock, random, log }: Parts) => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let isOver = false;

  const later = (ms: number, work: () => void) =>
    time.after(clock.realMs(ms), () => {
      if (!isOver) work();
    });

  const wait = (ms: number, { signal }: { signal?: AbortSignal } = {}) =>
    new Promise<void>((resolve, reject) => {
      const cancel = later(ms, resolve);
      signal?.addEventListener('abort', () => {
        cancel();
        reject(signal.reason as Error);
      });
    });

  class VirtualDate extends Date {
    constructor(...values: [] | [number]) {
      super(values.length === 0 ? clock.nowMs() : values[0]);
    }

    static override now() {
      return clock.nowMs();
    }
  }

  const globals: Globals = {
    Date: VirtualDate as DateConstructor,
    Math: Object.defineProperty(Object.create(Math) as Math, 'random', { value: random.next }),
    setTimeout: (work, ms) => void later(ms, work),
    scheduler: { wait },
    crypto: { getRandomValues: random.fill },
    console: {
      log: (text: string) => log(() => `${name}: ${text}`),
      error: (text: string) => log(() => `${name}: ${text}`),
    },
  };

  return {
    name,
    clock,
    globals,
    isOver: () => isOver,
    /** Resolves when the process is over. */
    ended,

    end: () => {
      isOver = true;
      end();
    },

    /** Waits for something outside the process. A process that is over waits forever. */
    outside: async <T>(work: () => Promise<T>): Promise<T> => {
      const forever = () => new Promise<never>(() => {});
      if (isOver) return forever();
      try {
        const result = await work();
        return isOver ? await forever() : result;
      } catch (error) {
        return isOver ? forever() : Promise.reject(error);
      }
    },
  };
};

export type Process = ReturnType<typeof openProcess>;
