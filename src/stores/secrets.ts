import type { Ctx } from '../db/ctx.ts';
import type { EarlierSecret, StoreRow } from '../db/schema.ts';
import { limitReached } from '../shared/app-error.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { randomBase62 } from '../shared/crypto/random.ts';
import { seal, unseal } from '../shared/crypto/sealing.ts';
import { HOUR_MS, isoTime } from '../shared/rules/dates.ts';
import { MAX_STORE_SECRETS, SECRET_OVERLAP_HOURS } from '../shared/rules/stores.ts';

// A store's secrets, each sealed for its place in the row of the store.

type Place = 'secret' | 'api_key';

const ownerOf = ({ accountId }: Pick<Ctx, 'accountId'>, id: string, place: Place) => [accountId, id, place];

export const sealFor = (ctx: Pick<Ctx, 'env' | 'accountId'>, id: string, place: Place, secret: string) =>
  seal(settingsOf(ctx.env).sealing, secret, ownerOf(ctx, id, place));

export const unsealFor = (env: Env, { accountId, id }: StoreRow, place: Place, sealed: string) =>
  unseal(settingsOf(env).sealing, sealed, ownerOf({ accountId }, id, place));

/** 32 bytes of randomness, for the path of a provider that signs nothing. */
export const newToken = (): string => randomBase62(43);

const secretsExhausted = (earlier: EarlierSecret[]) => {
  const nextMs = Math.min(...earlier.map(({ untilMs }) => untilMs));
  const message = `At most ${MAX_STORE_SECRETS} secrets of a store are accepted at a time. The next change is possible from ${isoTime(nextMs)}.`;
  return limitReached('secret', message);
};

/** Replaces a store's secret, which is accepted for another day. Nothing changes if it is the present one. */
export const replaceSecret = async (ctx: Ctx, store: StoreRow, secret: string, nowMs: number) => {
  const isOther = async (sealed: string) => (await unsealFor(ctx.env, store, 'secret', sealed)) !== secret;
  const replaced = { sealed: store.secret, untilMs: nowMs + SECRET_OVERLAP_HOURS * HOUR_MS };
  if (replaced.sealed !== null && !(await isOther(replaced.sealed))) return {};
  const earlier: EarlierSecret[] = [];
  for (const { sealed, untilMs } of [replaced, ...store.earlierSecrets])
    if (sealed !== null && untilMs > nowMs && (await isOther(sealed))) earlier.push({ sealed, untilMs });
  if (earlier.length >= MAX_STORE_SECRETS) throw secretsExhausted(earlier.slice(1));
  return { secret: await sealFor(ctx, store.id, 'secret', secret), earlierSecrets: earlier };
};
