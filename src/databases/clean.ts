import { accountDatabases, type NamedDatabase } from '../db/client.ts';
import { deleteRows } from '../erasure/rows.ts';
import type { MoveRoute } from './copy.ts';
import { isKept } from './moved-tables.ts';

// Deletes the account's rows in the database that it has left, or in the other one if it stays.

const MAX_ENTRIES = 1_000;

/** `spend` is as in `deleteRows`. Returns whether all rows are gone. */
export const cleanUp = async (
  env: Env,
  { d1, binding, unfenced }: NamedDatabase,
  accountId: string,
  spend: (queries: number) => boolean,
): Promise<boolean> => {
  const isFirst = binding === accountDatabases(env)[0].binding;
  if (!(await deleteRows(unfenced, accountId, spend, (table) => isKept(table, isFirst)))) return false;
  await d1.prepare('DELETE FROM accounts WHERE id = ?').bind(accountId).run();
  return true;
};

/**
 * Deletes the entries that were copied to the first database, which has others of the account between them. `onPage` is told of
 * each page by its last entry, and returns false to end this early. Returns whether all are gone.
 */
export const removeCopiedEntries = async (
  env: Env,
  { accountId, from, to }: MoveRoute,
  removedThrough: string,
  onPage: (through: string) => boolean,
): Promise<boolean> => {
  if (to.binding !== accountDatabases(env)[0].binding) return true;
  for (let after = removedThrough; ;) {
    const { results } = await from.d1
      .prepare('SELECT id FROM audit_log WHERE account_id = ? AND id > ? ORDER BY id LIMIT ?')
      .bind(accountId, after, MAX_ENTRIES)
      .all<{ id: string }>();
    const ids = JSON.stringify(results.map(({ id }) => id));
    await to.d1
      .prepare('DELETE FROM audit_log WHERE account_id = ? AND id IN (SELECT value FROM json_each(?))')
      .bind(accountId, ids)
      .run();
    after = results.at(-1)?.id ?? after;
    const goesOn = onPage(after);
    if (results.length < MAX_ENTRIES) return true;
    if (!goesOn) return false;
  }
};
