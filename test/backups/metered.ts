import { expect, test } from 'vitest';
import { doWork } from '../support/hourly.ts';
import { backUp, loseService, metersOf, openSeller, restore } from './service.ts';

/** Tests of how much the accounts of a restored service store. */
export const testMetered = () => {
  test('what the accounts of a restored service store is metered as it is, also of licenses that are gone', async () => {
    const { ada } = await openSeller(8);
    const once = { 'idempotency-key': 'once' };
    const { body: gone } = await ada.asKey('POST', '/api/v1/licenses/create', {}, once);
    expect((await ada.asSession('DELETE', `/api/v1/licenses/${gone.id}`)).status).toBe(200);
    const { id } = await backUp();
    await loseService();
    await restore(id);
    await doWork('measureStorage');
    const row = await metersOf(ada);
    expect(row).toMatchObject({ licenses: 3, metered: row?.stored });
    expect(row?.stored).toBeGreaterThan(2_000);
  });
};
