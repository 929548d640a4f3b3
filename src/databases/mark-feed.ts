import type { FeedPosition } from '../gate/rules/rows.ts';
import type { MoveRoute } from './copy.ts';

/** Begins the account's feed in the other database, whose rows have numbers of their own. Returns where the gate goes on. */
export const beginFeed = async ({ accountId, to }: MoveRoute): Promise<FeedPosition> => {
  const atMs = Date.now();
  const [, inserted] = await to.d1.batch<{ seq: number }>([
    to.d1.prepare('DELETE FROM feed WHERE account_id = ?').bind(accountId),
    to.d1
      .prepare(
        `INSERT INTO feed (account_id, kind, ref, created_at) VALUES (?1, 'account', ?1, ?2) RETURNING seq`,
      )
      .bind(accountId, atMs),
  ]);
  const seq = inserted?.results[0]?.seq;
  if (seq === undefined) throw new Error('The feed has not begun.');
  return { appliedSeq: seq, appliedAt: atMs, movedAt: atMs };
};
