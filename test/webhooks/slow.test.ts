import { expect, onTestFinished, test, vi } from 'vitest';
import { type Json, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { addEndpoint, consume, loseHints } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait-until.ts';

const LICENSES = 8;
/** Deliveries to an endpoint that are on their way at a time. */
const LANES = 6;

test('a receiver has 15 s to answer, and a hanging receiver does not delay other endpoints', async () => {
  onTestFinished(loseHints().stop);
  const ada = await signUp();
  const open = async (receiver: Awaited<ReturnType<typeof newReceiver>>) => ({
    receiver,
    ...(await addEndpoint(ada, receiver.url)),
  });
  const hanging = await open(await newReceiver({ status: 200, held: true }));
  const stalling = await open(await newReceiver({ status: 200, stalls: true }));
  const slow = await open(await newReceiver({ status: 200, held: true }));
  const prompt = await open(await newReceiver());
  const all = [hanging, stalling, slow, prompt];
  for (let i = 0; i < LICENSES; i++) await ada.createLicense();
  for (const { deliveries } of all) await waitUntil(deliveries, ({ length }) => length === LICENSES);
  const countDelivered = async ({ deliveries }: typeof prompt) =>
    (await deliveries()).filter(({ status }) => status === 'delivered').length;

  // Attempts of other consumers would wait forever for a timeout that is gone when the test ends.
  useFakeClock(Date.now(), ['setTimeout', 'clearTimeout']);
  const consumed = consume(all.map(({ hint }) => hint));
  await waitUntil(
    () => countDelivered(prompt),
    (count) => count === LICENSES,
  );
  for (const { receiver } of [hanging, stalling, slow]) await receiver.receives(LANES);
  expect((await hanging.deliveries()).flatMap(({ attempts }) => attempts)).toEqual([]);

  await vi.advanceTimersByTimeAsync(14_999);
  await slow.receiver.release();
  await waitUntil(
    () => countDelivered(slow),
    (count) => count === LANES,
  );
  expect((await hanging.deliveries()).flatMap(({ attempts }) => attempts)).toEqual([]);

  await vi.advanceTimersByTimeAsync(1);
  await consumed;
  const timedOutMs = Date.now();
  vi.useRealTimers();
  expect(await hanging.receiver.received()).toHaveLength(LANES);
  const attempted = (await hanging.deliveries()).filter(({ attempts }) => attempts.length > 0);
  expect(attempted).toHaveLength(LANES);
  for (const { status, attempts, next_attempt_at: dueAt } of attempted) {
    expect({ status, attempts }).toMatchObject({
      status: 'pending',
      attempts: [
        { status_code: null, response: null, error: 'no response within 15 s', duration_ms: 15_000 },
      ],
    });
    const waitMs = Date.parse(dueAt) - timedOutMs;
    expect(waitMs >= 4_000 && waitMs <= 6_000, `waits ${waitMs} ms`).toBe(true);
  }
  const isCut = (received: { cut?: boolean }[]) => received.every(({ cut }) => cut);
  await waitUntil(hanging.receiver.received, isCut);
  // The status arrived in time, so an incomplete body doesn't matter.
  const firstOf = ([first]: Json[]): Json => first;
  expect(firstOf((await stalling.deliveries()).toReversed())).toMatchObject({
    status: 'delivered',
    attempts: [{ status_code: 200, error: null }],
  });
  expect((await hanging.read()).status).toBe('enabled');
  await hanging.receiver.answers({ status: 200 });
});
