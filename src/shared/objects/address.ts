import { createLru } from '../memory/lru.ts';
import type { Region } from '../rules/regions.ts';

// An account's Durable Objects, which are addressed by its id. The first call to an object decides where it is placed,
// forever: in the account's home region if the call names it, and otherwise near the caller. A gate moves to another region
// by way of a new object, with the next epoch in its name. The object before it forwards its calls.

const placedIn = (homeRegion: Region | null) =>
  homeRegion === null ? undefined : { locationHint: homeRegion };

export const FIRST_EPOCH = 1;

const gateName = (accountId: string, epoch: number) =>
  epoch === FIRST_EPOCH ? accountId : `${accountId}~${epoch}`;

/** Returns the account and the epoch of a gate from its name. */
export const parseGateName = (name: string): { accountId: string; epoch: number } => {
  const [accountId = '', epoch] = name.split('~');
  return { accountId, epoch: epoch === undefined ? FIRST_EPOCH : Number(epoch) };
};

const ACCOUNTS_IN_MEMORY = 10_000;

/** The epochs of moved gates, as far as this isolate has learned them from replies. */
const epochs = createLru<number>(ACCOUNTS_IN_MEMORY);

/** Remembers the epoch in a gate's reply, so that the next call doesn't go by way of an earlier object. */
export const rememberEpoch = (accountId: string, { epoch }: { epoch?: number | undefined }): void => {
  if (epoch !== undefined && epoch > (epochs.get(accountId) ?? FIRST_EPOCH)) epochs.set(accountId, epoch);
};

/** The object that is the account's gate in an epoch. */
export const gateAt = (env: Env, accountId: string, epoch: number, homeRegion: Region | null = null) =>
  env.GATE.getByName(gateName(accountId, epoch), placedIn(homeRegion));

export const gateOf = (env: Env, accountId: string, homeRegion: Region | null = null) =>
  gateAt(env, accountId, epochs.get(accountId) ?? FIRST_EPOCH, homeRegion);

/**
 * Makes a repeatable call to the account's gate. If it fails, the account may have been erased since this isolate has learned
 * its epoch, so the call is repeated by way of the first object.
 */
export const askGate = async <T>(
  env: Env,
  accountId: string,
  ask: (gate: ReturnType<typeof gateOf>) => Promise<T>,
): Promise<T> => {
  try {
    return await ask(gateOf(env, accountId));
  } catch (error) {
    if (epochs.get(accountId) === undefined) throw error;
    epochs.delete(accountId);
    return ask(gateOf(env, accountId));
  }
};

export const outboxOf = (env: Env, accountId: string, homeRegion: Region | null = null) =>
  env.OUTBOX.getByName(accountId, placedIn(homeRegion));

/** The branch of an account's gate in a region. */
export const branchOf = (env: Env, accountId: string, region: Region) =>
  env.BRANCH.getByName(`${accountId}@${region}`, placedIn(region));
