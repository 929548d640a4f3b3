import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { gateAt } from '../../src/shared/objects.ts';
import type { Region } from '../../src/shared/rules/regions.ts';
import { gate } from './gate.ts';
import { waitUntil } from './outbox.ts';

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

/** Runs the gates' alarms until the account has arrived in its new region, from the object of the epoch `from`. */
export const arrive = (accountId: string, epoch: number, from = epoch - 1) =>
  waitUntil(
    async () => {
      for (const each of [from, epoch]) await runDurableObjectAlarm(gateIn(accountId, each)).catch(() => {});
      return gate(accountId).movingTo();
    },
    (movingTo) => movingTo === null,
  );

/** Moves the account's gate to another region, to the object of this epoch. */
export const move = async (accountId: string, region: Region, epoch = 2) => {
  const reply = await gate(accountId).startMove(region);
  await arrive(accountId, epoch);
  return reply;
};
