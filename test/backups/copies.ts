import { runDurableObjectAlarm } from 'cloudflare:test';
import { expect, test, vi } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate } from '../support/gate.ts';
import { readEvents, runOutboxAlarm } from '../support/outbox.ts';
import { backUp, loseService, restore } from './service.ts';

/** Lets the gate read the feed, and forward its events to the outbox. */
const forwardEvents = async (accountId: string) => {
  for (let i = 0; i < 2; i++) {
    vi.advanceTimersByTime(61_000);
    await runDurableObjectAlarm(gate(accountId));
  }
};

/** Tests of what gates read of D1 while it is restored, and afterwards. */
export const testCopies = () => {
  test('an event that the outbox has forgotten is not delivered again by a restored service', async () => {
    await loseService();
    useFakeClock();
    const { accountId, createLicense } = await signUp();
    await createLicense();
    await forwardEvents(accountId);
    expect(await readEvents(accountId)).toHaveLength(1);
    vi.advanceTimersByTime(31 * DAY_MS);
    await runOutboxAlarm(accountId);
    expect(await readEvents(accountId)).toEqual([]);
    const query = "SELECT count(*) AS n FROM feed WHERE account_id = ? AND kind = 'event'";
    expect(await accountsD1.prepare(query).bind(accountId).first('n')).toBe(1);

    const { id } = await backUp();
    await loseService();
    await restore(id);
    await forwardEvents(accountId);
    expect(await readEvents(accountId)).toEqual([]);
  });
};
