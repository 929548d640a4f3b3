import { newEvent } from '../../shared/text/events.ts';
import type { Copy } from './copy.ts';
import type { Ledger } from '../object/ledger.ts';
import type { Outgoing } from '../object/outgoing.ts';
import type { Usage } from '../rules/usage.ts';

/** Below the first percentage, a counted call costs one comparison. */
const FIRST_PERCENT = 80;

interface Parts {
  copy: Copy;
  ledger: Ledger;
  outgoing: Outgoing;
}

/**
 * Queues `usage.threshold` for the current commit when a counted call reaches 80% or 100% of the usage limit, once in a
 * period. `usage` includes the call.
 */
export const openUsageThreshold =
  ({ copy, ledger, outgoing }: Parts) =>
  ({ apiUsage, apiLimit, period }: Usage, nowMs: number): void => {
    if (apiUsage * 100 < apiLimit * FIRST_PERCENT) return;
    const percent = apiUsage < apiLimit ? FIRST_PERCENT : 100;
    const account = copy.account();
    if (!account || !ledger.noteThreshold(period.startMs, percent, nowMs)) return;
    const fields = { percent, api_usage: apiUsage, api_limit: apiLimit, customer_email: account.email };
    outgoing.add(newEvent('usage.threshold', nowMs, fields));
  };
