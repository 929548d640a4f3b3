import { passOn } from '../../shared/objects/pass-on.ts';
import { within } from '../../shared/objects/within.ts';

/** A gate as its callers see it. */
type Callable = Record<string, (...args: unknown[]) => unknown>;

const callThere = async (there: Callable, name: string, args: unknown[]): Promise<unknown> => {
  if (!there[name]) throw new Error('The account is being erased.');
  return passOn(there[name](...args));
};

/** Decides where a call is answered: here, or by the object that has taken this one's place. */
export const openRouting = (elsewhere: () => object | null) => {
  let paused: Promise<void> | null = null;
  let running = 0;
  let onIdle = () => {};

  const isDone = () => {
    running--;
    if (running === 0) onIdle();
  };

  const route = (name: string, args: unknown[], here: () => unknown): unknown => {
    if (paused) return paused.then(() => route(name, args, here));
    const there = elsewhere() as Callable | null;
    if (there) return callThere(there, name, args);
    const result = here();
    if (!(result instanceof Promise)) return result;
    running++;
    result.then(isDone, isDone);
    return result;
  };

  return {
    route,

    /** Lets new calls wait. Returns a function that lets them go on. */
    pause: (): (() => void) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      paused = promise;
      return () => {
        paused = null;
        resolve();
      };
    },

    /** Returns once all calls that have begun are answered. Fails if that takes longer than `ms`. */
    idle: async (ms: number): Promise<void> => {
      if (running === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      onIdle = resolve;
      await within(ms, promise);
    },
  };
};

export type Routing = ReturnType<typeof openRouting>;

/** Routes all calls of a class but those of the methods `except`, so that a new method can't be forgotten. */
export const routeCalls = <T extends object>(
  prototype: T,
  routingOf: (gate: T) => Routing,
  except: (keyof T)[],
): void => {
  const own = new Set<PropertyKey>(['constructor', ...except]);
  for (const name of Object.getOwnPropertyNames(prototype)) {
    if (own.has(name)) continue;
    const original = Reflect.get(prototype, name) as (...args: unknown[]) => unknown;
    const routed = function (this: T, ...args: unknown[]) {
      return routingOf(this).route(name, args, () => original.apply(this, args));
    };
    Reflect.set(prototype, name, Object.assign(routed, { original }));
  }
};

/** The methods of a gate that the platform may repeat after a disconnect. A repeat has the same result as a single call. */
export const REPEATABLE = [
  'verify',
  'application',
  'forward',
  'renew',
  'close',
  'listActivations',
  'listSeatChanges',
  'findLicenses',
  'exportActivations',
  'exportSeatChanges',
  'importSeats',
  'issueFile',
  'admit',
  'admitSession',
  'admitSearch',
  'takeTransferTurn',
  'endTransfer',
  'announce',
  'apply',
  'abandon',
  'pull',
  'setWantsVerified',
  'statistics',
  'regionStatistics',
  'keysLastUsedMs',
  'startMove',
  'moveDatabase',
  'backup',
  'movingTo',
  'receive',
  'redirect',
  'eraseTraces',
  'orphans',
  'reload',
  'eraseDue',
  'empty',
  'erase',
] as const;

/** The methods that each object of an account answers itself, wherever the account is. */
export const UNROUTED = ['alarm', 'receive', 'redirect', 'backup', 'empty', 'erase'] as const;
