import { sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { violatesNotNull } from '../db/errors.ts';
import { limitReached } from '../shared/app-error.ts';
import { MAX_API_KEYS } from '../shared/rules/api-keys.ts';

/**
 * The account's id while it has room for another key, and null after that, which the column refuses. D1 evaluates it in the
 * commit itself, so that parallel calls can't exceed the limit. `endingId` is a key that ends in the same commit.
 */
export const accountWithRoom = ({ accountId }: Ctx, nowMs: number, endingId: string | null = null) =>
  sql<string>`iif((
    SELECT count(*) FROM api_keys WHERE account_id = ${accountId} AND deleted_at IS NULL
      AND ifnull(expires_at, ${nowMs + 1}) > ${nowMs} AND id IS NOT ${endingId}
  ) < ${MAX_API_KEYS}, ${accountId}, NULL)`;

export const refuseWithoutRoom = (error: unknown): never => {
  if (!violatesNotNull(error, 'api_keys.account_id')) throw error;
  throw limitReached('api_keys', `An account has at most ${MAX_API_KEYS} live API keys. Delete one first.`);
};
