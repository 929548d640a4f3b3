import { afterEach, expect, test, vi } from 'vitest';
import { MAX_PENDING } from '../../src/shared/rules/webhooks.ts';
import type { Json } from '../support/client.ts';
import { addEndpoint, loseHints, readOutbox, tamperOutbox } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait-until.ts';
import { sellerWithWebhook } from '../support/worlds.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

test('at most 100,000 deliveries of an endpoint are pending, and the oldest fail with an error', async () => {
  loseHints();
  const logged = vi.spyOn(console, 'error');
  const { ada, endpoint } = await sellerWithWebhook();
  const other = await addEndpoint(ada, (await newReceiver()).url);
  // Ids older than any new id. All deliveries have been attempted and are due later than a new delivery.
  await tamperOutbox(
    ada.accountId,
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO deliveries
       (endpoint_id, id, event_id, block_id, status, failures, due_at_ms, created_at_ms, attempts)
     SELECT ?, 'dlv_0000' || (1000000 + i) || 'aaaaaaaaa', 'evt_0', 'evt_0', 'pending', 1, ?, 0, '[]' FROM n`,
    MAX_PENDING,
    endpoint.id,
    Date.now() + 3_600_000,
  );
  await tamperOutbox(
    ada.accountId,
    `INSERT INTO event_blocks VALUES ('evt_0', 'evt_0', 1, NULL, NULL,
       '[{"id":"evt_0","name":"license.created","payload":"{}","createdAtMs":0}]');
     INSERT INTO retries SELECT endpoint_id, due_at_ms, id FROM deliveries;
     INSERT OR REPLACE INTO lanes SELECT endpoint_id, json_object('takenThrough', max(id)) FROM deliveries GROUP BY endpoint_id`,
  );
  const failed = () =>
    readOutbox<{ id: string; endpoint_id: string }>(
      ada.accountId,
      "SELECT id, endpoint_id FROM deliveries WHERE status = 'failed' ORDER BY id",
    );
  for (const count of [1, 2, 3]) {
    await ada.createLicense();
    await waitUntil(endpoint.deliveries, (all) => all[count - 1]?.event === 'license.created');
    await waitUntil(failed, ({ length }) => length === count);
  }
  expect(await failed()).toEqual(
    [1, 2, 3].map((i) => ({ id: `dlv_0000100000${i}aaaaaaaaa`, endpoint_id: endpoint.id })),
  );
  expect((await other.deliveries()).map(({ status }) => status)).toEqual(['pending', 'pending', 'pending']);

  const path = `${endpoint.path}/deliveries?limit=1&cursor=dlv_00001000002aaaaaaaaa`;
  const [oldest]: Json[] = (await ada.asSession('GET', path)).body.data ?? [];
  expect(oldest).toMatchObject({
    status: 'failed',
    next_attempt_at: null,
    error: 'more than 100,000 deliveries were pending, and this was the oldest',
  });
  expect(logged.mock.calls.flat().filter((line) => String(line).includes('backlog_capped'))).toHaveLength(1);

  // A resent delivery is pending again, so the oldest of the others fails. The next event fails the resent delivery.
  const { id } = (await failed())[0]!;
  const resent = await ada.asSession('POST', `${endpoint.path}/deliveries/${id}/resend`);
  expect(resent.body).toMatchObject({ status: 'pending', error: null });
  expect((await failed()).map((delivery) => delivery.id)).toEqual(
    [2, 3, 4].map((i) => `dlv_0000100000${i}aaaaaaaaa`),
  );
  await ada.createLicense();
  await waitUntil(failed, ({ length }) => length === 4);
  expect((await failed())[0]!.id).toBe(id);
});
