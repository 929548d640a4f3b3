import { eq } from 'drizzle-orm';
import { accountDatabases, placeOf } from '../db/client.ts';
import { type StoreRow, stores } from '../db/schema.ts';

/** Finds a store by its id alone, in whichever database its account is. */
export const findAnyStore = async (env: Env, id: string): Promise<StoreRow | null> => {
  // The newest database first, since most new stores are there.
  for (const { binding, db } of accountDatabases(env).toReversed()) {
    const [row] = await db.select().from(stores).where(eq(stores.id, id));
    // While an account moves, its rows are in two databases.
    if (row && (await placeOf(env, row.accountId)).binding === binding) return row;
  }
  return null;
};
