import { UNROUTED } from '../../src/gate/moving/routing.ts';
import type { Region } from '../../src/shared/rules/regions.ts';
import { type Callee, type Caller, openCalls } from './machine/calls.ts';
import { bindD1, type D1Result, openD1, type Query } from './machine/d1.ts';
import type { Shipped, Start } from './machine/load.ts';
import { openNetwork, type Place } from './machine/network.ts';
import { type ClassName, openObjects, type SimulatedObject } from './machine/objects.ts';
import { openProcess, type Process } from './machine/process.ts';
import { openRandom } from './machine/random.ts';
import { openClock, openTime } from './machine/time.ts';
import { Broken } from './promises/broken.ts';
import { openTraces } from './traces.ts';

export const HOME = 'enam';

/** D1 gives up on a query that is older. */
const D1_MS = 30_000;

const isUnrouted = (method: string) => (UNROUTED as readonly string[]).includes(method);

/** The operator's settings, which a process reads when it starts. */
const SETTINGS = { REGIONS: 'on', REGIONS_LEASE_SECONDS: '30', REGIONS_OPEN_AFTER: '3' };
export type Settings = typeof SETTINGS;

interface WorldOptions {
  start: Start;
  seed: number;
  startMs: number;
  /** How much faster than the real time a clock is. */
  driftOf?: (kind: string) => number;
  hasOutputGate?: boolean;
  /** Where everything that happens is written down. */
  story?: string[] | null;
}

/** An isolate of the Worker, which makes the calls of one region. */
export interface Isolate {
  process: Process;
  region: Region;
  shipped: Shipped;
  env: Env;
}

/** A deployed service on one virtual clock: isolates of the Worker, Durable Objects, D1, and the network between them. */
export const openWorld = (options: WorldOptions) => {
  const { start, seed, startMs, driftOf = () => 0, hasOutputGate = true, story = null } = options;
  const random = openRandom(seed);
  const log = (text: () => string) => {
    story?.push(`${((time.nowMs() - startMs) / 1_000).toFixed(3)} ${text()}`);
  };
  const time = openTime(startMs, () => objects.endTurn());
  const network = openNetwork(time, random);
  const d1 = openD1();
  // What a new process asks D1 once, and which no fault is about, takes no time.
  d1.exec(`INSERT INTO database_identity VALUES (1, 'svc', 'DB', '[{"binding":"DB","firstAccountId":""}]')`);
  const isIdentity = ({ query }: Query) => query.includes('database_identity');
  const isolates = new Map<Region, Isolate>();
  /** The payloads of the events that have reached the outbox, by their ids. */
  const events = new Map<string, string>();
  const traces = openTraces();
  /** Errors that no fault of the network or a machine explains. */
  const bugs: Error[] = [];
  const noteError = (name: string, error: unknown) => {
    log(() => `${name}: ${String(error)}`);
    const isBug =
      error instanceof TypeError ||
      error instanceof ReferenceError ||
      /SQLITE_ERROR|could not write/.test(String(error));
    if (isBug) bugs.push(error as Error);
  };
  /** When home has started or moved, or a clock was set: then it isn't known how much of a rate limit was spent. */
  const forgottenMs: number[] = [];
  /** The objects of home that have been called as such. */
  const homes = new Set<string>();
  /** When objects have started: then they know few of the calls that they have had. */
  const startsMs: number[] = [];
  let settings = SETTINGS;
  let latestHomeMs = 0;

  const calls = openCalls({
    time,
    random,
    network,
    log,
    onError: noteError,
    onSent: traces.sent,
    onTrouble: traces.troubled,
  });

  const outbox: Callee = {
    place: { kind: 'outbox', region: HOME },
    isRetryable: () => true,
    receive: async (_method, [text]) => {
      for (const { id, payload } of JSON.parse(text as string) as { id: string; payload: string }[])
        events.set(id, payload);
      return { wantsVerified: true };
    },
  };

  const database: Callee = {
    place: { kind: 'd1', region: HOME },
    receive: async (_method, [queries, sentMs]) => {
      if (time.nowMs() - Number(sentMs) > D1_MS) throw new Error('D1_ERROR: The query took too long.');
      return d1.batch(queries as Parameters<typeof d1.batch>[0]);
    },
  };

  /** The object to which an account has moved begins with the first call. It knows nothing of what was spent. */
  const noteHome = ({ name, running }: SimulatedObject, method: string) => {
    if (homes.has(name) || isUnrouted(method)) return;
    homes.add(name);
    // Otherwise it starts with this call.
    if (running) forgottenMs.push(time.nowMs());
  };

  const objectAs = (from: Caller, className: ClassName, name: string, hint: Region): Callee => {
    const object = objects.get(className, name, hint);
    return {
      place: object,
      isRetryable: (method) => object.isRetryable(method),
      isUnreachable: () => objects.isShadowed(from, object),
      receive: (method, args) => {
        if (className === 'GATE') noteHome(object, method);
        return objects.receive(object, from.place, method, args);
      },
    };
  };

  /** A binding of Durable Objects: each method of a stub is a call through the network. */
  const namespaceFor = (from: Caller, calleeOf: (name: string, hint: Region) => Callee) => ({
    getByName: (name: string, { locationHint = HOME }: { locationHint?: Region } = {}) => {
      const callee = calleeOf(name, locationHint);
      const get = (_target: object, method: string) =>
        method === 'then' ? undefined : (...args: unknown[]) => calls.call(from, callee, method, args);
      return new Proxy({}, { get });
    },
  });

  const envFor = (process: Process, place: Place, isWritten: () => Promise<void>) => {
    const from: Caller = { place, process, isWritten };
    const namespaceOf = (className: ClassName) =>
      namespaceFor(from, (name, hint) => objectAs(from, className, name, hint));
    return {
      ...settings,
      DATABASES: 'DB',
      PAYMENTS: 'sandbox',
      GATE_EPOCH: '1',
      DB: bindD1(async (queries) =>
        queries.some(isIdentity)
          ? d1.batch(queries)
          : ((await calls.call(from, database, 'batch', [queries, time.nowMs()])) as D1Result),
      ),
      GATE: namespaceOf('GATE'),
      BRANCH: namespaceOf('BRANCH'),
      OUTBOX: namespaceFor(from, () => outbox),
    };
  };

  const objects = openObjects({
    time,
    random,
    start,
    driftOf,
    hasOutputGate,
    envFor,
    onStart: ({ name }) => {
      startsMs.push(time.nowMs());
      if (homes.has(name)) forgottenMs.push(time.nowMs());
    },
    onClockSet: () => forgottenMs.push(time.nowMs()),
    onError: noteError,
    onStrayWrite: (name, query) => {
      bugs.push(new Broken(`${name} writes past its journal: ${query}`));
    },
    log,
  });

  const isolateIn = (region: Region): Isolate => {
    const known = isolates.get(region);
    if (known) return known;
    const kind = `worker-${region}`;
    const process = openProcess({ name: kind, time, clock: openClock(time, driftOf(kind)), random, log });
    const { shipped } = start(process.globals);
    const env = envFor(process, { kind, region }, () => Promise.resolve()) as unknown as Env;
    const isolate = { process, region, shipped, env };
    isolates.set(region, isolate);
    return isolate;
  };

  /** What callers and the seller wait for, and the isolates that would answer. */
  const unanswered = new Map<string, Process>();

  return {
    time,
    random,
    network,
    objects,
    d1,
    events,
    traces,
    forgottenMs,
    startsMs,
    bugs,
    log,
    isolateIn,
    callCount: calls.count,

    /** Lets an isolate do something that somebody waits for. Returns null if it fails. */
    attempt: async <T>(name: string, { process }: Isolate, work: () => Promise<T>): Promise<T | null> => {
      unanswered.set(name, process);
      try {
        const result = await work();
        log(() => `${name}: ${JSON.stringify(result)}`);
        return result;
      } catch (error) {
        noteError(name, error);
        return null;
      } finally {
        unanswered.delete(name);
      }
    },
    unanswered: () => [...unanswered].filter(([, process]) => !process.isOver()).map(([name]) => name),

    /** The latest time that a clock of home has shown. */
    homeMs: () => {
      const clocks = objects.ofKind('home').map(({ clock }) => clock.nowMs());
      latestHomeMs = Math.max(latestHomeMs, ...clocks);
      return latestHomeMs;
    },

    restartIsolate: (region: Region) => {
      isolates.get(region)?.process.end();
      isolates.delete(region);
    },

    set: (changed: Partial<Settings>) => {
      settings = { ...settings, ...changed };
    },
  };
};

export type World = ReturnType<typeof openWorld>;
