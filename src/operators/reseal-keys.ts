import { and, count, eq, gt, isNull, ne, or } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { neededSecretId, secretIdOf } from '../api-keys/api-key.ts';
import type { AccountDatabase } from '../db/client.ts';
import { apiKeys } from '../db/schema.ts';
import type { Settings } from '../shared/config/settings.ts';
import { seal, sealingKeyOf, unseal } from '../shared/crypto/sealing.ts';
import { logError } from '../shared/text/log.ts';
import { isReadable, isSealedOtherwise } from './sealed-with.ts';

/** Every key is a statement of one batch, and a request may make 1,000 queries. */
const KEYS_PER_CALL = 400;

/** The secret id of a key whose tag no entry of the ring has made. */
const UNKNOWN_SECRET = '?';

const isLive = isNull(apiKeys.deletedAt);

/** Keys that have to be sealed again. */
const isLeft = ({ sealing }: Settings) => and(isLive, isSealedOtherwise(apiKeys.sealed, sealing));

type Row = Pick<typeof apiKeys.$inferSelect, 'accountId' | 'id' | 'sealed'>;

const resealedFields = async ({ sealing, apiKeySecrets }: Settings, { accountId, id, sealed }: Row) => {
  const owner = [accountId, id];
  const apiKey = await unseal(sealing, sealed, owner);
  return {
    secretId: neededSecretId(apiKeySecrets, apiKey) ?? UNKNOWN_SECRET,
    ...(sealingKeyOf(sealed) !== sealing.current && { sealed: await seal(sealing, apiKey, owner) }),
  };
};

/** A key that was deleted meanwhile stays as it is. */
const isUnchanged = ({ accountId, id, sealed }: Row) =>
  and(eq(apiKeys.accountId, accountId), eq(apiKeys.id, id), eq(apiKeys.sealed, sealed));

/** Seals the next API keys of a database again. */
export const resealKeys = async (db: AccountDatabase, settings: Settings): Promise<void> => {
  const rows = await db
    .select({ accountId: apiKeys.accountId, id: apiKeys.id, sealed: apiKeys.sealed })
    .from(apiKeys)
    .where(and(isLeft(settings), isReadable(apiKeys.sealed, settings.sealing)))
    .limit(KEYS_PER_CALL);
  const updates: BatchItem<'sqlite'>[] = [];
  for (const row of rows) {
    try {
      const fields = await resealedFields(settings, row);
      updates.push(db.update(apiKeys).set(fields).where(isUnchanged(row)));
    } catch (error) {
      logError('reseal_failed', error, { account_id: row.accountId, api_key_id: row.id });
    }
  }
  const [first, ...others] = updates;
  if (first) await db.batch([first, ...others]);
};

/** Counts the API keys that have to be sealed again, and those that need an old entry of API_KEY_SECRET. */
export const countKeys = async (db: AccountDatabase, settings: Settings) => {
  const needsOldSecret = and(
    isLive,
    ne(apiKeys.secretId, secretIdOf(settings.apiKeySecrets[0])),
    or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, Date.now())),
  );
  const [[left], [old]] = await db.batch([
    db.select({ n: count() }).from(apiKeys).where(isLeft(settings)),
    db.select({ n: count() }).from(apiKeys).where(needsOldSecret),
  ]);
  return { left: left?.n ?? 0, oldSecretKeys: old?.n ?? 0 };
};
