import { and, count, eq, inArray, isNotNull, or, type SQL, sql } from 'drizzle-orm';
import type { AccountDatabase } from '../db/client.ts';
import { type StoreMessageRow, storeMessages, type StoreRow, stores } from '../db/schema.ts';
import { PAGE_MESSAGES } from '../db/tables.ts';
import { type SealingRing, seal, unseal } from '../shared/crypto/sealing.ts';
import { logError } from '../shared/text/log.ts';
import { isReadable, isSealedOtherwise } from './sealed-with.ts';

// Seals the secrets of stores, and the bodies that are kept for a time, again.

/** Each is an update of its own, and a request makes 1,000 queries for all kinds of secrets. */
const ROWS_PER_CALL = 100;

/** The beginning of a sealed body, which an index has. */
const bodyStart = sql`substr("body", 1, 40)`;

const isBodyOtherwise = ({ current }: SealingRing): SQL =>
  sql`${storeMessages.body} IS NOT NULL AND (${bodyStart} < ${`${current}.`} OR ${bodyStart} >= ${`${current}/`})`;

const isBodyReadable = ({ keys }: SealingRing): SQL | undefined =>
  or(
    ...[...keys.keys()].map((name) => sql`(${bodyStart} >= ${`${name}.`} AND ${bodyStart} < ${`${name}/`})`),
  );

/** Whether a secret that another has replaced, and that is still accepted, is to be sealed again. Few stores have any. */
const isEarlierOtherwise = (ring: SealingRing, nowMs: number): SQL => {
  const sealed = sql`(value ->> 'sealed')`;
  return sql`EXISTS (SELECT 1 FROM json_each(${stores.earlierSecrets})
    WHERE value ->> 'untilMs' > ${nowMs} AND ${isSealedOtherwise(sealed, ring)})`;
};

const sealAgain = async (ring: SealingRing, sealed: string | null, owner: string[]): Promise<string | null> =>
  sealed === null ? null : seal(ring, await unseal(ring, sealed, owner), owner);

const resealStore = async (db: AccountDatabase, ring: SealingRing, row: StoreRow): Promise<void> => {
  const owner = (place: string) => [row.accountId, row.id, place];
  const accepted = row.earlierSecrets.filter(({ untilMs }) => untilMs > Date.now());
  const earlier = accepted.map(async ({ sealed, untilMs }) => ({
    untilMs,
    sealed: (await sealAgain(ring, sealed, owner('secret'))) ?? sealed,
  }));
  const fields = {
    secret: await sealAgain(ring, row.secret, owner('secret')),
    apiKey: await sealAgain(ring, row.apiKey, owner('api_key')),
    earlierSecrets: await Promise.all(earlier),
  };
  // A store that was changed meanwhile stays as it is.
  await db
    .update(stores)
    .set(fields)
    .where(and(eq(stores.id, row.id), eq(stores.updatedAt, row.updatedAt)));
};

type FoundMessage = Pick<StoreMessageRow, 'id' | 'accountId' | 'body'>;

const resealMessage = async (
  db: AccountDatabase,
  ring: SealingRing,
  { id, accountId, body }: FoundMessage,
): Promise<void> => {
  const sealed = await sealAgain(ring, body, [accountId, id, 'body']);
  await db
    .update(storeMessages)
    .set({ body: sealed })
    .where(and(eq(storeMessages.id, id), isNotNull(storeMessages.body)));
};

/** Bodies may be large, so few of them are read at once. */
const resealMessages = async (db: AccountDatabase, ring: SealingRing): Promise<void> => {
  const found = await db
    .select({ id: storeMessages.id })
    .from(storeMessages)
    .where(and(isBodyOtherwise(ring), isBodyReadable(ring)))
    .limit(ROWS_PER_CALL);
  for (let i = 0; i < found.length; i += PAGE_MESSAGES) {
    const ids = found.slice(i, i + PAGE_MESSAGES).map(({ id }) => id);
    const page = await db
      .select({ id: storeMessages.id, accountId: storeMessages.accountId, body: storeMessages.body })
      .from(storeMessages)
      .where(and(inArray(storeMessages.id, ids), isNotNull(storeMessages.body)));
    for (const message of page)
      await resealMessage(db, ring, message).catch((error: unknown) =>
        logError('reseal_failed', error, { account_id: message.accountId }),
      );
  }
};

/** Seals the next secrets and bodies of a database again. */
export const resealStores = async (db: AccountDatabase, ring: SealingRing): Promise<void> => {
  const found = await db.batch([
    db
      .select()
      .from(stores)
      .where(and(isSealedOtherwise(stores.secret, ring), isReadable(stores.secret, ring)))
      .limit(ROWS_PER_CALL),
    db
      .select()
      .from(stores)
      .where(and(isSealedOtherwise(stores.apiKey, ring), isReadable(stores.apiKey, ring)))
      .limit(ROWS_PER_CALL),
    db.select().from(stores).where(isEarlierOtherwise(ring, Date.now())).limit(ROWS_PER_CALL),
  ]);
  const rows = new Map(found.flat().map((row) => [row.id, row]));
  for (const row of rows.values())
    await resealStore(db, ring, row).catch((error: unknown) =>
      logError('reseal_failed', error, { account_id: row.accountId }),
    );
  await resealMessages(db, ring);
};

/** Counts the stores and bodies that have to be sealed again. */
export const countStores = async (db: AccountDatabase, ring: SealingRing): Promise<number> => {
  const n = count();
  const counts = await db.batch([
    db.select({ n }).from(stores).where(isSealedOtherwise(stores.secret, ring)),
    db.select({ n }).from(stores).where(isSealedOtherwise(stores.apiKey, ring)),
    db.select({ n }).from(stores).where(isEarlierOtherwise(ring, Date.now())),
    db.select({ n }).from(storeMessages).where(isBodyOtherwise(ring)),
  ]);
  return counts.flat().reduce((sum, row) => sum + row.n, 0);
};
