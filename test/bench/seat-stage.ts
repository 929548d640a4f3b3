// Compares the calls of applications with a plain verify, and counts the rows of heartbeats.
import { setTimeout as delay } from 'node:timers/promises';
import { expectOk } from '../crash/customer.ts';
import type { Probe } from './fixtures/probe.ts';
import type { Load } from './load/load.ts';
import { sharedValues, type Values, valueAt } from './load/plan.ts';
import type { Options } from './options.ts';
import { type Figure, measure, planOf } from './rounds.ts';
import { untilIdle } from './runtime.ts';
import { type Licensed, probe } from './seed.ts';
import type { Running } from './service.ts';
import { applicationTarget, type Seats, verifyTarget } from './targets.ts';

export const MANY_SEATS = 10_000;
const FEW_SEATS = 10;
const CONNECTIONS = 64;
export const LEASE_SECONDS = { usual: 3_600, short: 60 };
const HEARTBEATS = 1_000;
/** A lease is written once it moves by a tenth. */
const RENEWAL_MS = (LEASE_SECONDS.short * 1_000) / 10 + 1_000;

const machinesOf = (count: number): Values =>
  sharedValues(Array.from({ length: count }, (_, index) => `machine-${String(index).padStart(5, '0')}`));

/** Creates a license and fills its seats. */
export const fillSeats = async (
  load: Load,
  service: Running,
  account: Licensed,
  count: number,
  leaseSeconds: number,
): Promise<Seats> => {
  const terms = { max_activations: count, lease_seconds: leaseSeconds };
  const headers = { 'x-api-key': valueAt(account.apiKeys, 0) };
  const created = expectOk(await service.post('/api/v1/licenses/create', { terms }, headers));
  const { license_key } = created as { license_key: string };
  const seats = { licenses: sharedValues([license_key]), machines: machinesOf(count) };
  const target = applicationTarget('seeded', service.runtime, 'activate', account, seats, 'in turn');
  await load.run(planOf(target, { connections: CONNECTIONS, calls: count, durationMs: Infinity }));
  return seats;
};

export type SeatFigures = Record<string, Figure>;

/** Measures with one connection, on an account without webhooks. */
export const measureSeats = async (
  load: Load,
  { rounds, sliceMs }: Options,
  service: Running,
  account: Licensed,
): Promise<SeatFigures> => {
  const { runtime } = service;
  const few = await fillSeats(load, service, account, FEW_SEATS, LEASE_SECONDS.usual);
  const many = await fillSeats(load, service, account, MANY_SEATS, LEASE_SECONDS.usual);
  return measure(
    load,
    [
      verifyTarget('verify', runtime, account),
      applicationTarget('verify, fingerprint', runtime, 'verify', account, few),
      applicationTarget('activate', runtime, 'activate', account, few),
      applicationTarget('heartbeat', runtime, 'heartbeat', account, few),
      applicationTarget('verify, 10,000 seats', runtime, 'verify', account, many),
      applicationTarget('activate, 10,000 seats', runtime, 'activate', account, many),
    ],
    { connections: 1, calls: Infinity, durationMs: sliceMs },
    rounds,
  );
};

export interface Heartbeats {
  callsPerSecond: number;
  /** Rows written and read per heartbeat. */
  gateRows: number;
  rowsRead: number;
}

export interface HeartbeatFigures {
  /** Heartbeats that move their lease by a tenth. */
  renewing: Heartbeats;
  /** Heartbeats that follow them at once, and write nothing. */
  repeated: Heartbeats;
}

/** Takes the service with the counters. */
export const countHeartbeats = async (
  load: Load,
  service: Running,
  account: Licensed,
): Promise<HeartbeatFigures> => {
  const { runtime } = service;
  const seats = await fillSeats(load, service, account, HEARTBEATS, LEASE_SECONDS.short);
  const target = applicationTarget('counted', runtime, 'heartbeat', account, seats, 'in turn');
  const count = async (): Promise<Heartbeats> => {
    const before = await probe(service, account.accountId);
    const slice = { connections: CONNECTIONS, calls: HEARTBEATS, durationMs: Infinity };
    const { callsPerSecond } = await load.run(planOf(target, slice));
    const after = await probe(service, account.accountId);
    const per = (of: (counts: Probe['gate']) => number) => (of(after.gate) - of(before.gate)) / HEARTBEATS;
    return { callsPerSecond, gateRows: per(({ rows }) => rows), rowsRead: per(({ rowsRead }) => rowsRead) };
  };
  await untilIdle([runtime]);
  await delay(RENEWAL_MS);
  return { renewing: await count(), repeated: await count() };
};
