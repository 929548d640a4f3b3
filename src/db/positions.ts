import { and, eq, inArray, sql } from 'drizzle-orm';
import type { AccountDatabase, FirstDatabase } from './client.ts';
import { scheduledPositions } from './schema.ts';

// Where work that takes several runs goes on in its next one, and whose turn it is.

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

/** As long as the queue's consumer may take. It is over before the next hour. */
const TURN_MS = 15 * 60_000;

const rowOf = (work: string) => `turn_${work}`;

/** Begins the turn of a work. Returns its end, which `endTurn` needs, or null if another one has not ended. */
export const beginTurn = async (db: AccountDatabase, work: string): Promise<string | null> => {
  const nowMs = Date.now();
  const end = String(nowMs + TURN_MS);
  const begun = await db
    .insert(scheduledPositions)
    .values({ work: rowOf(work), position: end })
    .onConflictDoUpdate({
      target: scheduledPositions.work,
      set: { position: end },
      // A turn that ends a little too late is of a machine whose clock is ahead. Far too late, the clock has been set back since.
      setWhere: sql`CAST(${scheduledPositions.position} AS INTEGER) NOT BETWEEN ${nowMs + 1} AND ${nowMs + 2 * TURN_MS}`,
    })
    .returning({ work: scheduledPositions.work });
  return begun.length > 0 ? end : null;
};

export const endTurn = async (db: AccountDatabase, work: string, end: string): Promise<void> => {
  await db
    .delete(scheduledPositions)
    .where(and(eq(scheduledPositions.work, rowOf(work)), eq(scheduledPositions.position, end)));
};
