import { accountDatabases } from '../db/client.ts';
import { readConfig } from '../shared/config/config.ts';
import { countKeys, resealKeys } from './reseal-keys.ts';
import { resealTwoFactor } from './reseal-two-factor.ts';
import { resealOutboxes } from './reseal-outboxes.ts';

/**
 * Seals the next secrets that aren't sealed with the first key of SEALING_KEYS again. `left` counts the secrets, and the
 * accounts whose webhook secrets haven't been looked at. Call it again until that is 0.
 */
export const reseal = async (env: Env, restarts: boolean) => {
  const config = readConfig(env);
  const databases = accountDatabases(env);
  for (const { db } of databases) await resealKeys(db, config);
  let left = await resealTwoFactor(env, config.sealing);
  left += await resealOutboxes(env, config.sealing, restarts);
  let oldSecretKeys = 0;
  for (const { db } of databases) {
    const counts = await countKeys(db, config);
    left += counts.left;
    oldSecretKeys += counts.oldSecretKeys;
  }
  return { left, old_secret_keys: oldSecretKeys };
};
