import type { Region } from './rules/regions.ts';

// An account's Durable Objects, which are addressed by its id. The first call to an object decides where it is placed,
// forever: in the account's home region if the call names it, and otherwise near the caller.

const placedIn = (homeRegion: Region | null) =>
  homeRegion === null ? undefined : { locationHint: homeRegion };

export const gateOf = (env: Env, accountId: string, homeRegion: Region | null = null) =>
  env.GATE.getByName(accountId, placedIn(homeRegion));

export const outboxOf = (env: Env, accountId: string, homeRegion: Region | null = null) =>
  env.OUTBOX.getByName(accountId, placedIn(homeRegion));

/** The branch of an account's gate in a region. */
export const branchOf = (env: Env, accountId: string, region: Region) =>
  env.BRANCH.getByName(`${accountId}@${region}`, placedIn(region));
