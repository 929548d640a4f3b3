import { expect, test, vi } from 'vitest';
import { AccountGate } from '../../src/gate/home/account-gate.ts';
import { signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { begin, press } from './sandbox.ts';

/** A seller with a paid plan and a license, by whose verify calls the gate’s limit is seen. */
const openPro = async () => {
  const ada = await signUp();
  const { license_key } = await ada.createLicense();
  expect((await press((await begin(ada)).checkout_url, 'paid')).status).toBe(303);
  return { ada, limit: async () => (await ada.verify(license_key)).body.api_limit };
};

/** Cancels at once, with one Idempotency-Key. */
const openCancel = async () => {
  const { ada, limit } = await openPro();
  const cancel = async () => {
    const key = { 'idempotency-key': 'leave' };
    return (await ada.asSession('POST', '/api/cancel-subscription', { at: 'now' }, key)).status;
  };
  const cutOff = (name: 'apply' | 'pull') =>
    vi.spyOn(AccountGate.prototype, name).mockRejectedValue(new Error('The gate is cut off.'));
  return { limit, cancel, cutOff };
};

test('a cancellation of which the gate hears late answers once every verify has the limit of the free plan', async () => {
  useFakeClock();
  const { limit, cancel, cutOff } = await openCancel();
  const apply = cutOff('apply');
  expect(await cancel()).toBe(200);
  apply.mockRestore();
  expect(await limit()).toBe(1_000);
});

test('a cancellation of which the gate hears nothing fails, and its repeat answers once every verify sees it', async () => {
  useFakeClock();
  const { limit, cancel, cutOff } = await openCancel();
  const cut = [cutOff('apply'), cutOff('pull')];
  expect(await cancel()).toBe(503);
  for (const spy of cut) spy.mockRestore();
  expect(await limit()).toBe(100_000);
  expect(await cancel()).toBe(200);
  expect(await limit()).toBe(1_000);
});
