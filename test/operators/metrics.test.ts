import { runInDurableObject } from 'cloudflare:test';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { AccountGate } from '../../src/gate/home/account-gate.ts';
import { signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate, tamper, withoutTables } from '../support/gate.ts';
import { scrapeMetrics, withOperatorToken } from '../support/operator.ts';
import { consume, loseHints, outbox, runOutboxAlarm } from '../support/outbox.ts';
import { waitUntil } from '../support/wait-until.ts';
import { sellerWithWebhook } from '../support/worlds.ts';

test('metrics count requests and refusals by route, and tell the size of each database', async () => {
  const stop = withOperatorToken();
  const ada = await signUp();
  await ada.verify('UNKNOWN-KEY');
  await ada.verify('UNKNOWN-KEY', 'no-key');
  const text = await scrapeMetrics();
  const route = 'method="POST",route="/api/v1/licenses/verify"';
  expect(text).toMatch(new RegExp(`^latchkey_requests_total\\{${route},status="200",code=""\\} \\d+$`, 'm'));
  expect(text).toContain(`latchkey_requests_total{${route},status="403",code="api_key_invalid"} `);
  expect(text).toMatch(/^latchkey_verify_duration_seconds_bucket\{le="\+Inf"\} [1-9]/m);
  expect(text).toMatch(/^latchkey_d1_size_bytes\{database="DB"\} [1-9]/m);
  stop();
});

test('metrics tell for how long the oldest erasure of a customer and of an account has been due', async () => {
  onTestFinished(withOperatorToken());
  useFakeClock('2027-03-01T12:00:00.000Z');
  const ada = await signUp();
  const overdue = async () =>
    [
      ...(await scrapeMetrics()).matchAll(
        /^latchkey_erasure_overdue_seconds\{database="DB2",of="(\w+)"\} (\d+)/gm,
      ),
    ].map(([, of, seconds]) => [of, Number(seconds)]);
  expect(await overdue()).toEqual([
    ['customer', 0],
    ['account', 0],
  ]);
  const [hourAgo, minuteAgo] = [Date.now() - 3_600_000, Date.now() - 60_000];
  const insert =
    "INSERT INTO erasures (account_id, kind, subject, created_at) VALUES (?, 'customer', 'ann', ?)";
  await accountsD1.prepare(insert).bind(ada.accountId, hourAgo).run();
  await accountsD1
    .prepare('UPDATE accounts SET erase_at = ? WHERE id = ?')
    .bind(minuteAgo, ada.accountId)
    .run();
  const [customer, account] = await overdue();
  expect([customer?.[0], account?.[0]]).toEqual(['customer', 'account']);
  expect(customer?.[1]).toBeGreaterThanOrEqual(3_600);
  expect(customer?.[1]).toBeLessThan(3_700);
  expect(account?.[1]).toBeGreaterThanOrEqual(60);
  expect(account?.[1]).toBeLessThan(160);
  // An account whose user was never committed is due, too.
  await accountsD1
    .prepare('UPDATE accounts SET user_due_at = ? WHERE id = ?')
    .bind(hourAgo, ada.accountId)
    .run();
  expect((await overdue())[1]?.[1]).toBeGreaterThanOrEqual(3_600);
});

test('metrics count deliveries that wait, failing endpoints, and gates that load their copy', async () => {
  onTestFinished(withOperatorToken());
  const hints = loseHints();
  onTestFinished(hints.stop);
  useFakeClock();
  const { ada, receiver, hint } = await sellerWithWebhook({}, { status: 500 });
  await ada.createLicense();
  const waitForDeliveries = (count: number) =>
    waitUntil(
      async () => outbox(ada.accountId).listDeliveries(hint.endpoint_id, 10, null),
      (deliveries) => deliveries?.length === count,
    );
  await waitForDeliveries(1);
  const states = async () => {
    const lines = (await scrapeMetrics()).split('\n');
    const valueOf = (name: string) =>
      Number(lines.find((line) => line.startsWith(`latchkey_${name}{database="DB2"} `))?.split(' ')[1]);
    return [valueOf('gates_loading'), valueOf('outbox_deliveries_waiting'), valueOf('endpoints_failing')];
  };
  const runAlarms = async () => {
    // An object reports once a minute at most.
    vi.advanceTimersByTime(60_000);
    await runOutboxAlarm(ada.accountId);
    await runInDurableObject(gate(ada.accountId), (object: AccountGate) => object.alarm());
  };
  await runOutboxAlarm(ada.accountId);
  expect(await states()).toEqual([0, 0, 0]);

  // One delivery waits for a retry, and the other one for the consumer.
  await consume(hint);
  await ada.createLicense();
  await waitForDeliveries(2);
  await tamper(ada.accountId, `UPDATE facts SET value = json_set(value, '$.complete', json('false'))`);
  await withoutTables(['licenses'], runAlarms);
  expect(await states()).toEqual([1, 2, 1]);

  await receiver.answers({ status: 200 });
  await consume(hint);
  await runAlarms();
  expect(await states()).toEqual([0, 0, 0]);
});
