import { gateOf } from '../shared/objects/address.ts';
import { logError } from '../shared/text/log.ts';
import { findAccounts } from './rows.ts';

// Applications call while a service is restored, and a gate then copies what D1 has of its account by that time: some tables, or
// none. So each gate loads its copy again once all rows are there.

export const reloadGate = (env: Env, accountId: string): Promise<void> => gateOf(env, accountId).reload();

/** Each gate is called after the one before, and the same step may have restored chunks for 15 seconds. */
const MAX_GATES = 100;

/**
 * Reloads the gates of the next of these accounts, whose objects the backup lacks. Returns how many are done, with the
 * `reloaded` ones of earlier steps. A gate that can't be reached now, either, doesn't hold up the restore.
 */
export const reloadNext = async (env: Env, accountIds: string[], reloaded: number): Promise<number> => {
  const next = accountIds.slice(reloaded, reloaded + MAX_GATES);
  for (const accountId of await findAccounts(env, next))
    try {
      await reloadGate(env, accountId);
    } catch (error) {
      logError('gate_not_reloaded', error, { account_id: accountId });
    }
  return reloaded + next.length;
};
