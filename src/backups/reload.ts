import { gateOf } from '../shared/objects/address.ts';
import { logError } from '../shared/text/log.ts';

// Applications call while a service is restored, and a gate then copies what D1 has of its account by that time: some tables, or
// none. So each gate loads its copy again once all rows are there.

export const reloadGate = (env: Env, accountId: string): Promise<void> => gateOf(env, accountId).reload();

/** The gates of accounts whose objects the backup lacks. One that can't be reached now, either, doesn't hold up the restore. */
export const reloadOthers = async (env: Env, accountIds: Iterable<string>): Promise<void> => {
  for (const accountId of accountIds)
    try {
      await reloadGate(env, accountId);
    } catch (error) {
      logError('gate_not_reloaded', error, { account_id: accountId });
    }
};
