// Counts the rows that verify writes and reads and its D1 queries, with a build of the service that has counters.
import { setTimeout as delay } from 'node:timers/promises';
import type { Probe } from './fixtures/probe.ts';
import type { Load } from './load/load.ts';
import { planOf } from './rounds.ts';
import { untilIdle } from './runtime.ts';
import { type Licensed, probe } from './seed.ts';
import type { Running } from './service.ts';
import { verifyTarget } from './targets.ts';

const CALLS = { one: 1_000, many: 20_000 };
const CONNECTIONS = { one: 1, many: 64 };

export type D1Queries = Pick<Probe['d1'], 'byCalls' | 'byAlarms'>;

export interface Counted {
  calls: number;
  callsPerSecond: number;
  /** Commits and rows are per verify. */
  commits: number;
  gateRows: number;
  outboxRows: number;
  /** In the gate and the outbox. */
  rowsRead: number;
  /** Calls to the outbox, and alarms of the gate and the outbox, per verify. */
  otherObjectRequests: number;
  /** The total, not per verify. */
  d1Queries: D1Queries;
}

export interface CountFigures {
  one: Counted;
  many: Counted;
  unheardMany: Counted;
  /** Queries of the first verify after each eviction, and of the alarms that follow. */
  d1QueriesAfterEviction: D1Queries;
  evictions: number;
}

const EVICTIONS = 20;

const queriesBetween = ({ d1: before }: Probe, { d1: after }: Probe): D1Queries => ({
  byCalls: after.byCalls - before.byCalls,
  byAlarms: after.byAlarms - before.byAlarms,
});

const difference = (before: Probe, after: Probe, calls: number, callsPerSecond: number): Counted => {
  const per = (of: (probe: Probe) => number) => (of(after) - of(before)) / calls;
  return {
    calls,
    callsPerSecond,
    commits: per(({ gate }) => gate.commits),
    gateRows: per(({ gate }) => gate.rows),
    outboxRows: per(({ outbox }) => outbox.rows),
    rowsRead: per(({ gate, outbox }) => gate.rowsRead + outbox.rowsRead),
    otherObjectRequests: per(
      ({ gate, outbox }) => gate.alarms + outbox.alarms + (outbox.calls['accept'] ?? 0),
    ),
    d1Queries: queriesBetween(before, after),
  };
};

/** The alarm for events comes once a minute. */
const ALARM_TIMEOUT_MS = 100_000;

/** Waits until the gate's alarm has run, so that its queries count, too. */
const untilAlarmHasRun = async (service: Running, { accountId }: Licensed): Promise<Probe> => {
  const startMs = performance.now();
  for (;;) {
    const counts = await probe(service, accountId);
    if (!counts.hasAlarm) return counts;
    if (performance.now() - startMs > ALARM_TIMEOUT_MS) throw new Error('The gate’s alarm did not run.');
    await delay(200);
  }
};

const count = async (load: Load, service: Running, account: Licensed, which: keyof typeof CALLS) => {
  const { runtime } = service;
  const target = verifyTarget('counted', runtime, account);
  const slice = { connections: CONNECTIONS[which], calls: CALLS[which], durationMs: Infinity };
  await untilIdle([runtime]);
  const before = await untilAlarmHasRun(service, account);
  const { calls, callsPerSecond } = await load.run(planOf(target, slice));
  await untilIdle([runtime]);
  return difference(before, await untilAlarmHasRun(service, account), calls, callsPerSecond);
};

const afterEvictions = async (load: Load, service: Running, name: string, account: Licensed) => {
  const { miniflare, runtime } = { ...service, ...service.runtime };
  const target = verifyTarget('first after an eviction', runtime, account);
  const before = await untilAlarmHasRun(service, account);
  for (let eviction = 0; eviction < EVICTIONS; eviction++) {
    await miniflare.unsafeEvictDurableObject(name, 'AccountGate', { name: account.accountId });
    await load.run(planOf(target, { connections: 1, calls: 1, durationMs: Infinity }));
  }
  return queriesBetween(before, await untilAlarmHasRun(service, account));
};

/** Takes the service with the counters, and the name of its Worker. */
export const measureCounts = async (
  load: Load,
  service: Running,
  name: string,
  busy: Licensed,
  unsubscribed: Licensed,
): Promise<CountFigures> => ({
  one: await count(load, service, busy, 'one'),
  many: await count(load, service, busy, 'many'),
  unheardMany: await count(load, service, unsubscribed, 'many'),
  d1QueriesAfterEviction: await afterEvictions(load, service, name, busy),
  evictions: EVICTIONS,
});
