import { afterEach, expect, test, vi } from 'vitest';
import { type Json, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { addEndpoint, consume, loseHints, runOutboxAlarm, withOutboxMethod } from '../support/outbox.ts';
import type { Reply } from '../support/receiver-server.ts';
import { newReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait-until.ts';
import { sellerWithWebhook } from '../support/worlds.ts';

// An endpoint whose URL changes while an attempt at the earlier URL is still under way.

afterEach(() => {
  vi.restoreAllMocks();
});

/** Changes the URL before the attempt at the earlier URL, which answers `reply`, is settled. */
const changeUrlDuringAttempt = async (reply: Reply) => {
  loseHints();
  const ada = await signUp();
  const [earlier, current] = [await newReceiver(reply), await newReceiver()];
  const endpoint = await addEndpoint(ada, earlier.url);
  await ada.createLicense();
  await waitUntil(endpoint.deliveries, ({ length }) => length === 1);
  let hasChanged = false;
  const changing = withOutboxMethod('settle', async (original, args) => {
    if (!hasChanged) {
      hasChanged = true;
      await ada.asSession('PATCH', endpoint.path, { url: current.url });
    }
    return original(...args);
  });
  await consume(endpoint.hint, changing);
  return { ada, endpoint, current };
};

test.for([410, 500])(
  'a %s from an earlier URL leaves the endpoint healthy and is retried at the current URL',
  async (status) => {
    const { ada, endpoint, current } = await changeUrlDuringAttempt({ status });
    expect(await endpoint.read()).toMatchObject({
      url: current.url,
      status: 'enabled',
      disabled_reason: null,
      failing_since: null,
    });
    vi.restoreAllMocks();
    await runOutboxAlarm(ada.accountId);
    await current.receives(1);
    const attempts = async () => (await endpoint.deliveries())[0];
    const delivered: Json = await waitUntil(attempts, (shown) => shown.status === 'delivered');
    const codes = delivered.attempts.map(({ status_code: code }: Json) => code);
    expect(codes).toEqual([status, 200]);
  },
);

test('a new URL resets failing_since, and the same URL again does not', async () => {
  const { ada, receiver, endpoint } = await sellerWithWebhook({}, { status: 500 });
  await ada.asSession('POST', `${endpoint.path}/test`);
  const { failing_since: since } = await waitUntil(endpoint.read, (shown) => shown.failing_since !== null);
  const patch = async (url: string) =>
    (await ada.asSession('PATCH', endpoint.path, { url })).body.failing_since;
  expect(await patch(receiver.url)).toBe(since);
  expect(await patch((await newReceiver()).url)).toBeNull();
});

test('a new URL makes retries due now, with all of their retries', async () => {
  useFakeClock();
  loseHints();
  const ada = await signUp();
  const [earlier, current] = [
    await newReceiver({ status: 503, headers: { 'retry-after': '3600' } }),
    await newReceiver({ status: 500 }),
  ];
  const endpoint = await addEndpoint(ada, earlier.url);
  await ada.createLicense();
  const delivery = async (): Promise<Json> => (await endpoint.deliveries())[0];
  await waitUntil(endpoint.deliveries, ({ length }) => length === 1);
  await consume(endpoint.hint);
  const failed = await delivery();
  expect(failed.attempts).toHaveLength(1);
  expect(Date.parse(failed.next_attempt_at) - Date.now()).toBeGreaterThan(3_000_000);
  vi.advanceTimersByTime(1_000);
  await ada.asSession('PATCH', endpoint.path, { url: current.url });
  await consume(endpoint.hint);
  expect(await current.received()).toHaveLength(1);
  const retried = await delivery();
  expect(retried.attempts).toHaveLength(2);
  // The first retry after five seconds, not the second after five minutes.
  expect(Date.parse(retried.next_attempt_at) - Date.parse(retried.attempts[1].time)).toBeLessThan(10_000);
});
