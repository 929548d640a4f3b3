import { type CallerRegion, roundTripMs } from '../../support/round-trips.ts';
import type { Random } from './random.ts';
import type { Time } from './time.ts';

/** A place in the network: an object, an isolate of the Worker, or D1. `kind` names it in links: home, d1, outbox, oc, worker-oc. */
export interface Place {
  kind: string;
  region: CallerRegion;
}

type Side = 'request' | 'answer';

/** What happens to the next messages of a call. A message that is held waits for `release`. */
export interface Fault {
  method: string;
  side: Side;
  /** The kind of the callee, or of the caller, if it has to be one. */
  at?: string | undefined;
  does: 'lose' | 'hold' | 'delay';
  ms?: number;
  /** How many messages it happens to, instead of one. */
  times?: number;
}

export interface Weather {
  /** The part of the messages that are lost, or come seconds late. */
  loss: number;
  slow: number;
}

/** Tells a caller that its call was cut off. */
export class Disconnected extends Error {
  /** Whether the platform may make the call again. */
  mayRepeat = false;

  constructor() {
    super('Network connection lost.');
  }
}

const linkOf = (a: string, b: string) => [a, b].toSorted().join('|');

export const openNetwork = (time: Time, random: Random) => {
  const cuts = new Set<string>();
  let faults: { fault: Fault; left: number }[] = [];
  const held: (() => void)[] = [];
  /** What waits for the network to heal. */
  const stuck: (() => void)[] = [];
  let weather: Weather = { loss: 0, slow: 0 };

  const wait = (ms: number) => new Promise<void>((resolve) => void time.after(ms, resolve));

  /** Takes the fault that is planned for this message. */
  const faultOf = (from: Place, to: Place, method: string, side: Side): Fault | undefined => {
    const planned = faults.find(
      ({ fault, left }) =>
        left > 0 &&
        fault.method === method &&
        fault.side === side &&
        (fault.at === undefined || fault.at === from.kind || fault.at === to.kind),
    );
    if (planned) planned.left--;
    return planned?.fault;
  };

  const lose = async (): Promise<never> => {
    await wait(random.between(50, random.chance(0.2) ? 12_000 : 1_000));
    throw new Disconnected();
  };

  return {
    /** Resolves when a message arrives. Throws where its sender learns that it was lost. */
    carry: async (from: Place, to: Place, method: string, side: Side): Promise<void> => {
      const fault = faultOf(from, to, method, side);
      if (fault?.does === 'lose' || random.chance(weather.loss)) await lose();
      if (fault?.does === 'hold') await new Promise<void>((resolve) => held.push(resolve));
      const halfMs = roundTripMs(from.region, to.region) / 2;
      const lateMs = random.chance(weather.slow) ? random.between(500, 8_000) : 0;
      await wait(halfMs * random.between(1, 1.3) + lateMs + (fault?.ms ?? 0));
      if (!cuts.has(linkOf(from.kind, to.kind))) return;
      if (random.chance(0.7)) await lose();
      await new Promise<void>((resolve) => stuck.push(resolve));
    },

    wait,
    cut: (a: string, b: string) => cuts.add(linkOf(a, b)),
    heal: () => {
      cuts.clear();
      for (const resolve of stuck.splice(0)) resolve();
    },
    plan: (fault: Fault) => faults.push({ fault, left: fault.times ?? 1 }),

    /** Lets the messages go on that are held, and plans no more faults. */
    release: () => {
      faults = [];
      for (const resolve of held.splice(0)) resolve();
    },

    setWeather: (next: Weather) => {
      weather = next;
    },
  };
};

export type Network = ReturnType<typeof openNetwork>;
