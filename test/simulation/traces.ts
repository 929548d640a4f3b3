import type { Place } from './machine/network.ts';

export interface Trace {
  /** The kinds of objects that the Worker has asked. */
  asked: Set<string>;
  isTroubled: boolean;
}

interface Presented {
  ip?: string;
  presented?: { ip?: string };
}

/** What has become of the calls of applications in the network. The address of the API key has a call's name. */
export const openTraces = () => {
  const traces = new Map<string, Trace>();

  const traceOf = (name: string): Trace => {
    let trace = traces.get(name);
    if (!trace) traces.set(name, (trace = { asked: new Set(), isTroubled: false }));
    return trace;
  };

  const nameIn = (args: unknown[]): string | undefined => {
    for (const arg of args as (Presented | null)[]) {
      const name = arg?.presented?.ip ?? arg?.ip;
      if (name !== undefined) return name;
    }
    return undefined;
  };

  return {
    of: traceOf,

    sent: (from: Place, to: Place, args: unknown[]) => {
      const name = nameIn(args);
      if (name !== undefined && from.kind.startsWith('worker')) traceOf(name).asked.add(to.kind);
    },

    /** A call was cut off, repeated or slow. */
    troubled: (args: unknown[]) => {
      const name = nameIn(args);
      if (name !== undefined) traceOf(name).isTroubled = true;
    },
  };
};
