import { runDurableObjectAlarm } from 'cloudflare:test';
import { vi } from 'vitest';
import type { Json } from './client.ts';
import { gate } from './gate.ts';
import { asOperator } from './operator.ts';

const path = (accountId: string) => `/operator/accounts/${accountId}/database`;

export const startMove = (accountId: string, database: string) =>
  asOperator('POST', path(accountId), { database });

export const cancelMove = (accountId: string) => asOperator('DELETE', path(accountId));

const readMove = async (accountId: string): Promise<Json> => (await asOperator('GET', path(accountId))).body;

/** Far more than any of the tests needs. */
const MAX_ALARMS = 60;

/**
 * Runs the alarm of the account's gate, with a fake clock, until the move has come to a step, or has ended. Returns the answer to
 * the operator.
 */
export const runMove = async (accountId: string, until: string | null = null): Promise<Json> => {
  for (let alarms = 0; alarms < MAX_ALARMS; alarms++) {
    const found = await readMove(accountId);
    if ((found.move?.step ?? null) === until || found.move === null) return found;
    // Longer than the map is used, and than a step that has failed waits.
    vi.setSystemTime(Date.now() + 16_000);
    await runDurableObjectAlarm(gate(accountId));
  }
  throw new Error(`The move of ${accountId} has not come to ${until}.`);
};
