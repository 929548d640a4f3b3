import { expect, test, vi } from 'vitest';
import { AccountGate } from '../../src/gate/home/account-gate.ts';
import { signUp } from '../support/client.ts';
import { begin, press } from './sandbox.ts';

const CUT_OFF = new Error('The gate is cut off.');

/** A seller with a paid plan and a license, by whose verify calls the gate’s limit is seen. */
const openPro = async () => {
  const ada = await signUp();
  const { license_key } = await ada.createLicense();
  expect((await press((await begin(ada)).checkout_url, 'paid')).status).toBe(303);
  return { ada, limit: async () => (await ada.verify(license_key)).body.api_limit };
};

const CALLS = ['apply', 'pull'] as const;

test.for([1, 2])(
  'a cancellation answers once every verify has the limit of the free plan, although %i calls of the gate fail',
  async (count) => {
    const { ada, limit } = await openPro();
    const cancel = () =>
      ada.asSession('POST', '/api/cancel-subscription', { at: 'now' }, { 'idempotency-key': 'leave' });
    const cut = CALLS.slice(0, count).map((name) =>
      vi.spyOn(AccountGate.prototype, name).mockRejectedValue(CUT_OFF),
    );
    const first = await cancel();
    for (const spy of cut) spy.mockRestore();
    if (count === 2) {
      expect([first.status, await limit()]).toEqual([503, 100_000]);
      expect((await cancel()).status).toBe(200);
    } else expect(first.status).toBe(200);
    expect(await limit()).toBe(1_000);
  },
);
