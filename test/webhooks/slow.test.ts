import { expect, test } from 'vitest';
import { type Json, signUp } from '../support/client.ts';
import { addEndpoint } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';

// Slow receivers, in real time. One test runs them in parallel, so that it waits for the timeout only once.

/** Waits for the first attempt of the endpoint's oldest delivery and returns that delivery. */
const firstAttempted = async (endpoint: Awaited<ReturnType<typeof addEndpoint>>): Promise<Json> => {
  const oldest = async (): Promise<Json> => (await endpoint.deliveries()).at(-1);
  await expect.poll(async () => (await oldest())?.attempts.length, { interval: 250 }).toBe(1);
  return oldest();
};

const dueAfterMs = ({ next_attempt_at: at, attempts: [{ time, duration_ms: ms }] }: Json) =>
  Date.parse(at) - Date.parse(time) - ms;

test('a receiver has 15 s to answer, and a hanging receiver does not delay other endpoints', async () => {
  const ada = await signUp();
  const hangingReceiver = await newReceiver({ status: 200, delayMs: 'never' });
  const stallingReceiver = await newReceiver({ status: 200, stalls: true });
  const slowReceiver = await newReceiver({ status: 200, delayMs: 13_000 });
  const promptReceiver = await newReceiver();
  const [hanging, stalling, slow, prompt] = [
    await addEndpoint(ada, hangingReceiver.url),
    await addEndpoint(ada, stallingReceiver.url),
    await addEndpoint(ada, slowReceiver.url),
    await addEndpoint(ada, promptReceiver.url),
  ];
  for (let i = 0; i < 8; i++) await ada.createLicense();
  await promptReceiver.receives(8);
  await expect
    .poll(async () => (await prompt.deliveries()).map(({ status }) => status))
    .toEqual(Array.from({ length: 8 }, () => 'delivered'));
  // All of this happened before the first timeout.
  expect((await hanging.deliveries()).flatMap(({ attempts }) => attempts)).toEqual([]);
  // The hanging endpoint uses all of its own six lanes.
  expect(await hangingReceiver.received()).toHaveLength(6);

  const [timedOut, stalled, late] = await Promise.all([hanging, stalling, slow].map(firstAttempted));
  expect(timedOut).toMatchObject({ status: 'pending', attempts: [{ status_code: null, response: null }] });
  // The status arrived in time, so an incomplete body doesn't matter.
  expect(stalled).toMatchObject({ status: 'delivered', attempts: [{ status_code: 200, error: null }] });
  const [attempt] = timedOut.attempts;
  expect(attempt.error).toBe('no response within 15 s');
  expect(attempt.duration_ms).toBeGreaterThanOrEqual(14_900);
  expect(attempt.duration_ms).toBeLessThan(17_000);
  expect(dueAfterMs(timedOut)).toBeGreaterThanOrEqual(3_990);
  expect(dueAfterMs(timedOut)).toBeLessThan(7_000);
  expect(late).toMatchObject({ status: 'delivered', attempts: [{ status_code: 200, error: null }] });
  expect(await hangingReceiver.received().then(([first]) => first!.cut)).toBe(true);
  expect((await hanging.read()).status).toBe('enabled');
});
