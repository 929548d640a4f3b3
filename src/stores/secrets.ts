import type { Ctx } from '../db/ctx.ts';
import type { EarlierSecret, StoreRow } from '../db/schema.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { randomBase62 } from '../shared/crypto/random.ts';
import { seal, unseal } from '../shared/crypto/sealing.ts';
import { HOUR_MS } from '../shared/rules/dates.ts';
import { SECRET_OVERLAP_HOURS } from '../shared/rules/stores.ts';

// A store's secrets, each sealed for its place in the row of the store.

type Place = 'secret' | 'api_key';

/** The most secrets that are accepted besides the present one. */
const MAX_EARLIER = 4;

const ownerOf = ({ accountId }: Pick<Ctx, 'accountId'>, id: string, place: Place) => [accountId, id, place];

export const sealFor = (ctx: Pick<Ctx, 'env' | 'accountId'>, id: string, place: Place, secret: string) =>
  seal(settingsOf(ctx.env).sealing, secret, ownerOf(ctx, id, place));

export const unsealFor = (env: Env, { accountId, id }: StoreRow, place: Place, sealed: string) =>
  unseal(settingsOf(env).sealing, sealed, ownerOf({ accountId }, id, place));

/** 32 bytes of randomness, for the path of a provider that signs nothing. */
export const newToken = (): string => randomBase62(43);

/** Keeps a replaced secret for a day. */
export const withEarlier = ({ secret, earlierSecrets }: StoreRow, nowMs: number): EarlierSecret[] => {
  const kept = earlierSecrets.filter(({ untilMs }) => untilMs > nowMs);
  if (secret === null) return kept;
  return [{ sealed: secret, untilMs: nowMs + SECRET_OVERLAP_HOURS * HOUR_MS }, ...kept].slice(0, MAX_EARLIER);
};
