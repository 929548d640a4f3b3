import { expect, test } from 'vitest';
import { type Json, signUp } from '../support/client.ts';
import { addEndpoint } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';

// Receivers that take their time, in real time: all at once, so that it is waited for once.

const attempted = async (endpoint: Awaited<ReturnType<typeof addEndpoint>>): Promise<Json> => {
  const log = async (): Promise<Json> => (await endpoint.deliveries()).at(-1);
  await expect.poll(async () => (await log())?.attempts.length, { timeout: 20_000, interval: 250 }).toBe(1);
  return log();
};

const dueAfterMs = ({ next_attempt_at: at, attempts: [{ time, duration_ms: ms }] }: Json) =>
  Date.parse(at) - Date.parse(time) - ms;

test('an answer has 15 s; who hangs delays nobody else', async () => {
  const ada = await signUp();
  const hanging = await newReceiver({ status: 200, delayMs: 'never' });
  const stalling = await newReceiver({ status: 200, stalls: true });
  const slow = await newReceiver({ status: 200, delayMs: 13_000 });
  const good = await newReceiver();
  const [dead, stalled, late, prompt] = [
    await addEndpoint(ada, hanging.url),
    await addEndpoint(ada, stalling.url),
    await addEndpoint(ada, slow.url),
    await addEndpoint(ada, good.url),
  ];
  const startedMs = performance.now();
  for (let i = 0; i < 8; i++) await ada.createLicense();
  await good.receives(8);
  await expect
    .poll(async () => (await prompt.deliveries()).map(({ status }) => status))
    .toEqual(Array.from({ length: 8 }, () => 'delivered'));
  expect(performance.now() - startedMs).toBeLessThan(5_000);
  // The dead one holds its own six connections and no more.
  expect(await hanging.received()).toHaveLength(6);

  const [hung, begun, answered] = await Promise.all([dead, stalled, late].map(attempted));
  expect(hung).toMatchObject({ status: 'pending', attempts: [{ status_code: null, response: null }] });
  // Its status came in time, whatever becomes of the rest.
  expect(begun).toMatchObject({ status: 'delivered', attempts: [{ status_code: 200, error: null }] });
  const [attempt] = hung.attempts;
  expect(attempt.error).toBe('no answer within 15 s');
  expect(attempt.duration_ms).toBeGreaterThanOrEqual(14_900);
  expect(attempt.duration_ms).toBeLessThan(17_000);
  expect(dueAfterMs(hung)).toBeGreaterThanOrEqual(3_990);
  expect(dueAfterMs(hung)).toBeLessThan(7_000);
  expect(answered).toMatchObject({ status: 'delivered', attempts: [{ status_code: 200, error: null }] });
  expect(await hanging.received().then(([first]) => first!.cut)).toBe(true);
  expect((await dead.look()).status).toBe('enabled');
});
