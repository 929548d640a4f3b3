import { gateOf } from '../shared/objects/address.ts';
import { isoDate } from '../shared/rules/dates.ts';
import { logError } from '../shared/text/log.ts';
import type { FoundAccount } from './accounts.ts';

export interface FoundUsage {
  apiUsage: number;
  apiLimit: number;
}

const readUsage = async (env: Env, accountId: string): Promise<FoundUsage | null> => {
  try {
    const { apiUsage, apiLimit } = await gateOf(env, accountId).statistics(isoDate(Date.now()));
    return { apiUsage, apiLimit };
  } catch (error) {
    logError('usage_not_read', error, { account_id: accountId });
    return null;
  }
};

/** Asks the gates of some accounts how much these call. An account whose gate doesn't answer has null. */
export const withUsage = (
  env: Env,
  found: FoundAccount[],
): Promise<(FoundAccount & { usage: FoundUsage | null })[]> =>
  Promise.all(found.map(async (row) => ({ ...row, usage: await readUsage(env, row.account.id) })));
