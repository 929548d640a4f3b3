import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { vi } from 'vitest';
import { gateAt } from '../../src/shared/objects/address.ts';
import type { Region } from '../../src/shared/rules/regions.ts';
import { gate } from './gate.ts';
import { waitUntil } from './wait-until.ts';

/** The object that is the account's gate in an epoch. */
export const gateIn = (accountId: string, epoch: number) => gateAt(env, accountId, epoch);

export const killGate = (accountId: string, epoch: number) =>
  runInDurableObject(gateIn(accountId, epoch), (_instance, state) => state.abort('killed by a test')).catch(
    () => {},
  );

/** The names of a gate's tables. */
export const tablesOf = (accountId: string, epoch: number) =>
  runInDurableObject(gateIn(accountId, epoch), (_gate, { storage }) =>
    storage.sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf_*'")
      .toArray()
      .map(({ name }) => name),
  );

/** A step of a move that has failed for the first time is repeated within this time. */
export const RETRY_MS = 2_000;

/**
 * Runs the gates' alarms until the account has arrived in its new region. `from` is the epoch of its former home. Of a fake
 * clock, `passMs` pass between the alarms, for moves that fail at first.
 */
export const arrive = (accountId: string, epoch: number, { from = epoch - 1, passMs = 0 } = {}) =>
  waitUntil(
    async () => {
      if (passMs > 0) vi.advanceTimersByTime(passMs);
      for (const each of [from, epoch]) await runDurableObjectAlarm(gateIn(accountId, each)).catch(() => {});
      return gate(accountId).movingTo();
    },
    (movingTo) => movingTo === null,
  );

/** Moves the account's gate to another region, to the object of this epoch. */
export const move = async (accountId: string, region: Region, epoch = 2, passMs = 0) => {
  const reply = await gate(accountId).startMove(region);
  await arrive(accountId, epoch, { passMs });
  return reply;
};
