import { Disconnected, type Network, type Place } from './network.ts';
import type { Process } from './process.ts';
import type { Random } from './random.ts';
import type { Time } from './time.ts';

/** Who makes a call. What it has written before is confirmed before the call leaves. */
export interface Caller {
  place: Place;
  process: Process;
  isWritten: () => Promise<void>;
}

export interface Callee {
  place: Place;
  receive: (method: string, args: unknown[]) => Promise<unknown>;
  /** Whether the platform may repeat a call that may have arrived. */
  isRetryable?: (method: string) => boolean;
  /** Whether the caller can't reach it at present. */
  isUnreachable?: () => boolean;
}

interface Parts {
  time: Time;
  random: Random;
  network: Network;
  log: (text: () => string) => void;
  onError: (name: string, error: unknown) => void;
  /** Called for each call. */
  onSent: (from: Place, to: Place, args: unknown[]) => void;
  /** Called for a call that was cut off, repeated, or slow enough for its caller to have given up. */
  onTrouble: (args: unknown[]) => void;
}

/** The platform repeats calls for so long. */
const REPEAT_MS = 10_000;
/** Callers may give up after as long. */
const SLOW_MS = 1_900;

/** Calls between processes: at most once, unless the method may be repeated. */
export const openCalls = ({ time, random, network, log, onError, onSent, onTrouble }: Parts) => {
  let count = 0;

  /** Returns the outcome of a call, as a function that returns the answer or throws the callee's error. */
  const attempt = async (from: Caller, to: Callee, method: string, args: unknown[]) => {
    let hasArrived = false;
    try {
      await network.carry(from.place, to.place, method, 'request');
      if (to.isUnreachable?.()) throw new Disconnected();
      hasArrived = true;
      const outcome = await to.receive(method, structuredClone(args)).then(
        (result) => () => result,
        (error: Error) => {
          if (error instanceof Disconnected) throw error;
          onError(method, error);
          return () => {
            throw new Error(error.message);
          };
        },
      );
      await network.carry(to.place, from.place, method, 'answer');
      return outcome;
    } catch (error) {
      if (error instanceof Disconnected) error.mayRepeat = !hasArrived || to.isRetryable?.(method) === true;
      throw error;
    }
  };

  const call = async (from: Caller, to: Callee, method: string, args: unknown[]): Promise<unknown> => {
    const sent = structuredClone(args);
    await from.isWritten();
    const number = ++count;
    onSent(from.place, to.place, sent);
    const startMs = time.nowMs();
    const name = `${from.place.kind} → ${to.place.kind}.${method} #${number}`;
    for (;;) {
      try {
        log(() => `${name} ${JSON.stringify(sent)}`);
        const outcome = await attempt(from, to, method, sent);
        log(() => `${name} is answered`);
        if (time.nowMs() - startMs > SLOW_MS) onTrouble(sent);
        return outcome();
      } catch (error) {
        if (!(error instanceof Disconnected)) throw error;
        log(() => `${name} is cut off`);
        onTrouble(sent);
        const isLate = time.nowMs() - startMs > REPEAT_MS;
        if (isLate || from.process.isOver() || !error.mayRepeat || random.chance(0.5))
          throw new Error(error.message, { cause: error });
        await network.wait(random.between(50, 500));
      }
    }
  };

  return {
    count: () => count,
    call: (from: Caller, to: Callee, method: string, args: unknown[]) =>
      from.process.outside(() => call(from, to, method, args)),
  };
};
