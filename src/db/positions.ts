import { eq, inArray } from 'drizzle-orm';
import type { AccountDatabase, FirstDatabase } from './client.ts';
import { scheduledPositions } from './schema.ts';

// Where work that takes several runs goes on in its next one.

/** Work of an account that is due. A run goes on after the last one that it has read. */
export interface Due {
  id: string;
  dueMs: number;
  /** Puts rows in order that are due at the same time. */
  row: number;
}

/** Returns the positions of the works that have stopped on the way, by their names. */
export const findPositions = async <T>(
  db: AccountDatabase | FirstDatabase,
  works: string[],
): Promise<Map<string, T>> => {
  const stored = await db.select().from(scheduledPositions).where(inArray(scheduledPositions.work, works));
  return new Map(stored.map(({ work, position }) => [work, JSON.parse(position) as T]));
};

export const savePosition = async (
  db: AccountDatabase | FirstDatabase,
  work: string,
  at: object,
): Promise<void> => {
  const position = JSON.stringify(at);
  await db
    .insert(scheduledPositions)
    .values({ work, position })
    .onConflictDoUpdate({ target: scheduledPositions.work, set: { position } });
};

/** The next run begins anew. */
export const deletePosition = async (db: AccountDatabase | FirstDatabase, work: string): Promise<void> => {
  await db.delete(scheduledPositions).where(eq(scheduledPositions.work, work));
};
