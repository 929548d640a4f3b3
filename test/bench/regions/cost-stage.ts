// Rows and dollars of a million verifies from a region far from home, with home only and with a branch.
import { setTimeout as delay } from 'node:timers/promises';
import type { ObjectCounts } from '../fixtures/network/commits.ts';
import type { Load } from '../load/load.ts';
import { costOf } from '../prices.ts';
import { planOf } from '../rounds.ts';
import { untilIdle } from '../runtime.ts';
import { verifyTarget } from '../targets.ts';
import type { Served, Worlds } from './latency-stage.ts';
import { setNetwork } from './world.ts';

const FROM = 'weur';
const SLICES = {
  many: { connections: 64, calls: 6_000, durationMs: Infinity },
  one: { connections: 1, calls: 60, durationMs: Infinity },
};

/** Per verify. */
export interface Spent {
  homeRows: number;
  branchRows: number;
  /** At home and in the branch. */
  rowsRead: number;
  objectRequests: number;
  cpuMs: number;
  /** US dollars for a million verifies. */
  dollars: number;
}

export interface CostFigures {
  many: { homeOnly: Spent; branches: Spent };
  one: { homeOnly: Spent; branches: Spent };
  /** Rows that each open branch causes in a day without calls, in the branch and at home. */
  idleRowsPerDay: number;
  idleDollarsPerMonth: number;
}

type Counts = Record<string, ObjectCounts>;

const sumOf = (counts: Counts, name: string, of: (counts: ObjectCounts) => number) =>
  Object.entries(counts).reduce((sum, [key, one]) => (key.startsWith(name) ? sum + of(one) : sum), 0);

const between = (before: Counts, after: Counts, accountId: string) => {
  const difference = (name: string, of: (counts: ObjectCounts) => number) =>
    sumOf(after, `${name} ${accountId}`, of) - sumOf(before, `${name} ${accountId}`, of);
  const requests = ({ requests, alarms }: ObjectCounts) => requests + alarms;
  return {
    homeRows: difference('AccountGate', ({ rows }) => rows),
    branchRows: difference('GateBranch', ({ rows }) => rows),
    rowsRead:
      difference('AccountGate', ({ rowsRead }) => rowsRead) +
      difference('GateBranch', ({ rowsRead }) => rowsRead),
    objectRequests: difference('AccountGate', requests) + difference('GateBranch', requests),
  };
};

const spend = async (
  load: Load,
  { service, account }: Served,
  slice: (typeof SLICES)['one'],
  objects: number,
): Promise<Spent> => {
  const { runtime } = service;
  const target = verifyTarget('costs', runtime, account, account.licenses.count, { 'caller-region': FROM });
  await untilIdle([runtime]);
  const before = await setNetwork(service);
  const beforeCpuMs = runtime.cpuMs();
  const { calls, callsPerSecond } = await load.run(planOf(target, slice));
  await untilIdle([runtime]);
  const cpuMs = (runtime.cpuMs() - beforeCpuMs) / calls;
  const spent = between(before, await setNetwork(service), account.accountId);
  const homeRows = spent.homeRows / calls;
  const branchRows = spent.branchRows / calls;
  const rowsRead = spent.rowsRead / calls;
  const objectRequests = spent.objectRequests / calls;
  const { total } = costOf({
    objectRequests,
    gateRows: homeRows + branchRows,
    outboxRows: 0,
    rowsRead,
    queueMessages: 0,
    cpuMs,
    objectSeconds: objects / callsPerSecond,
  });
  return { homeRows, branchRows, rowsRead, objectRequests, cpuMs, dollars: total };
};

/** Branches are counted in for two renewals of each. */
const IDLE_MS = 40_000;
const DAY_MS = 86_400_000;
const DAYS_PER_MONTH = 30;
const DOLLARS_PER_ROW = 1e-6;

/** Counts the rows of branches without calls, while other work runs. */
export const countIdle = async ({ service, account }: Served, branches: number, work: Promise<unknown>) => {
  const before = await setNetwork(service);
  const startMs = performance.now();
  await Promise.all([work, delay(IDLE_MS)]);
  const elapsedMs = performance.now() - startMs;
  const { homeRows, branchRows } = between(before, await setNetwork(service), account.accountId);
  const idleRowsPerDay = ((homeRows + branchRows) / branches / elapsedMs) * DAY_MS;
  return { idleRowsPerDay, idleDollarsPerMonth: idleRowsPerDay * DAYS_PER_MONTH * DOLLARS_PER_ROW };
};

export const measureCosts = async (
  load: Load,
  { off, on }: Worlds,
): Promise<Omit<CostFigures, 'idleRowsPerDay' | 'idleDollarsPerMonth'>> => {
  const compare = async (slice: (typeof SLICES)['one']) => ({
    branches: await spend(load, on, slice, 2),
    homeOnly: await spend(load, off, slice, 1),
  });
  return { many: await compare(SLICES.many), one: await compare(SLICES.one) };
};
