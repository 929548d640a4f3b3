import { and, count, eq, isNotNull } from 'drizzle-orm';
import { accountDatabases, firstDatabase } from '../db/client.ts';
import { users } from '../db/schema.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { type SealingRing, seal, unseal } from '../shared/crypto/sealing.ts';
import { logError } from '../shared/text/log.ts';
import { ownerOf } from '../two-factor/code.ts';
import { countHeld, resealHeld } from './reseal-held.ts';
import { countKeys, resealKeys } from './reseal-keys.ts';
import { resealOutboxes } from './reseal-outboxes.ts';
import { countStores, resealStores } from './reseal-stores.ts';
import { isReadable, isSealedOtherwise } from './sealed-with.ts';

const USERS_PER_CALL = 200;

/** Seals the next users' two-factor secrets again. Returns how many are left. */
const resealTwoFactor = async (env: Env, ring: SealingRing): Promise<number> => {
  const db = firstDatabase(env);
  const sealed = users.twoFactorSecret;
  const isLeft = and(isNotNull(sealed), isSealedOtherwise(sealed, ring));
  const rows = await db
    .select({ accountId: users.accountId, sealed })
    .from(users)
    .where(and(isLeft, isReadable(sealed, ring)))
    .limit(USERS_PER_CALL);
  for (const { accountId, sealed: before } of rows) {
    if (before === null) continue;
    try {
      const owner = ownerOf(accountId);
      const after = await seal(ring, await unseal(ring, before, owner), owner);
      // A secret that was replaced or removed meanwhile stays as it is.
      await db
        .update(users)
        .set({ twoFactorSecret: after })
        .where(and(eq(users.accountId, accountId), eq(sealed, before)));
    } catch (error) {
      logError('reseal_failed', error, { account_id: accountId });
    }
  }
  const [row] = await db.select({ n: count() }).from(users).where(isLeft);
  return row?.n ?? 0;
};

/**
 * Seals the next secrets that aren't sealed with the first key of SEALING_KEYS again. `left` counts the secrets, and the
 * accounts whose webhook secrets haven't been looked at. Call it again until that is 0.
 */
export const reseal = async (env: Env, restarts: boolean) => {
  const settings = settingsOf(env);
  const databases = accountDatabases(env);
  for (const { db, unfenced } of databases) {
    await resealKeys(db, settings);
    await resealStores(db, settings.sealing);
    await resealHeld(unfenced, settings.sealing);
  }
  let left = await resealTwoFactor(env, settings.sealing);
  left += await resealOutboxes(env, settings.sealing, restarts);
  let oldSecretKeys = 0;
  for (const { db } of databases) {
    const counts = await countKeys(db, settings);
    left += counts.left + (await countStores(db, settings.sealing)) + (await countHeld(db, settings.sealing));
    oldSecretKeys += counts.oldSecretKeys;
  }
  return { left, old_secret_keys: oldSecretKeys };
};
