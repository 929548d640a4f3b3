import { afterEach, expect, test, vi } from 'vitest';
import { AccountGate } from '../../src/gate/home/account-gate.ts';
import { type Customer, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { addEndpoint, runOutboxAlarm } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';
import { sellerWithWebhook } from '../support/worlds.ts';

// Changes of endpoints while the outbox can't reach the gate. An error response means that nothing has changed.

afterEach(() => {
  vi.restoreAllMocks();
});

// The platform sets this property on the error of a call to an object that restarts.
const outage = () => Object.assign(new Error('The gate restarts.'), { durableObjectReset: true });

const failGate = () =>
  vi.spyOn(AccountGate.prototype, 'setWantsVerified').mockImplementation(() => {
    throw outage();
  });

const listed = async (ada: Customer) => (await ada.asSession('GET', '/api/webhooks')).body.data;

test('adding a webhook that needs the gate saves nothing and works again afterwards', async () => {
  const ada = await signUp();
  const { url } = await newReceiver();
  failGate();
  expect((await ada.asSession('POST', '/api/webhooks', { url })).status).toBe(503);
  expect(await listed(ada)).toEqual([]);
  vi.restoreAllMocks();
  await addEndpoint(ada, url);
  expect(await listed(ada)).toHaveLength(1);
});

test('a webhook is added after the first call to the gate has failed', async () => {
  const ada = await signUp();
  const calls = vi.spyOn(AccountGate.prototype, 'setWantsVerified').mockImplementationOnce(() => {
    throw outage();
  });
  await addEndpoint(ada, (await newReceiver()).url);
  expect(calls).toHaveBeenCalledTimes(2);
  expect(await listed(ada)).toHaveLength(1);
});

test('an update that subscribes to license.verified changes nothing, other changes are saved', async () => {
  const ada = await signUp();
  const { url } = await newReceiver();
  const { path } = await addEndpoint(ada, url, { events: ['license.created'] });
  const { body: before } = await ada.asSession('GET', path);
  failGate();
  expect((await ada.asSession('PATCH', path, { events: null })).status).toBe(503);
  expect((await ada.asSession('GET', path)).body).toEqual(before);
  const described = await ada.asSession('PATCH', path, { description: 'The shop' });
  expect([described.status, described.body.description]).toEqual([200, 'The shop']);
});

test('deleting the last webhook succeeds, and the alarm tells the gate', async () => {
  useFakeClock();
  const { ada, path } = await sellerWithWebhook();
  failGate();
  expect((await ada.asSession('DELETE', path)).status).toBe(200);
  expect(await listed(ada)).toEqual([]);
  vi.restoreAllMocks();
  const told = vi.spyOn(AccountGate.prototype, 'setWantsVerified');
  await runOutboxAlarm(ada.accountId);
  expect(told.mock.calls).toEqual([[false]]);
});
