import { runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { newEvent } from '../../src/shared/text/events.ts';
import type { DeliveryJob } from '../../src/webhooks/jobs.ts';
import { countStorage, noCounts } from '../bench/fixtures/count-storage.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { loseHints, outbox, readOutbox, tamperOutbox } from '../support/outbox.ts';
import { sellerWithWebhook } from '../support/worlds.ts';

// The rows that the outbox writes and reads for delivered webhooks, as Cloudflare bills them. An index entry counts like a row.

const OK = {
  ok: true,
  atMs: 0,
  statusCode: 200,
  error: null,
  durationMs: 1,
  response: 'ok',
  retryAfterMs: null,
};

/** The block and the delivery of the first event, which are deleted with the others. */
const ROWS_OF_FIRST = 2;

afterEach(() => {
  vi.restoreAllMocks();
});

/** Delivers events to one endpoint, after a first one in the same hour, and returns the rows written by each stage, without those of the alarm. */
const rowsOf = async (events: number) => {
  loseHints();
  useFakeClock();
  const { ada, id } = await sellerWithWebhook();
  return runInDurableObject(outbox(ada.accountId), async (object, { storage }) => {
    const counts = countStorage(storage, noCounts());
    const count = async (work: () => Promise<unknown>) => {
      const before = { ...counts };
      await work();
      return counts.rows - before.rows - (counts.alarmsSet - before.alarmsSet);
    };
    let jobs: DeliveryJob[] = [];
    const acceptAll = (length: number) => {
      const accepted = Array.from({ length }, () =>
        newEvent('license.created', Date.now(), { customer_email: 'grace@example.com' }),
      );
      return object.accept(JSON.stringify(accepted));
    };
    const claimDue = async () => {
      jobs = object.claim(id);
    };
    const settleAll = async () => {
      for (let job = jobs.pop(); job; job = jobs.pop()) {
        const next = await object.settle(id, job, { ...OK, atMs: Date.now() }, true);
        if (next) jobs.push(next);
      }
    };
    await acceptAll(1);
    await claimDue();
    await settleAll();
    const accept = await count(() => acceptAll(events));
    const claim = await count(claimDue);
    const settle = await count(settleAll);
    vi.setSystemTime(Date.now() + 31 * DAY_MS);
    const forgetAll = await count(() => object.alarm());
    return { accept, claim, settle, forget: forgetAll - ROWS_OF_FIRST };
  });
};

test('a webhook of a busy endpoint writes at most four rows, from its event to its deletion', async () => {
  const events = 300;
  const { accept, claim, settle, forget } = await rowsOf(events);
  expect((accept + claim + settle + forget) / events).toBeLessThanOrEqual(4);
});

test('a lone webhook writes five rows', async () => {
  expect(await rowsOf(1)).toEqual({ accept: 2, claim: 0, settle: 1, forget: 2 });
});

test('each part of a cleanup reads its own events, and not those of the parts after it', async () => {
  loseHints();
  useFakeClock();
  const { ada, id } = await sellerWithWebhook();
  const { accountId } = ada;
  // 3,000 old events, each with a delivery.
  const blocks = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
    INSERT INTO event_blocks SELECT 'evt_0000' || (100 + i), 'evt_0000' || (100 + i), 50,
      'dlv_0000' || (100 + i) || '01', 'dlv_0000' || (100 + i) || '50', '[]' FROM n`;
  await tamperOutbox(accountId, blocks);
  const deliveries = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
    INSERT INTO deliveries SELECT ?, substr(first_delivery_id, 1, 11) || printf('%02d', i), last_id, last_id,
      'delivered', 0, 1, NULL, 1, '[]' FROM event_blocks, n`;
  await tamperOutbox(accountId, deliveries, id);
  const lanes = `INSERT INTO lanes VALUES (?, '{"takenThrough":"dlv_0001"}')
    ON CONFLICT DO UPDATE SET value = json_patch(value, excluded.value)`;
  await tamperOutbox(accountId, lanes, id);
  const [counted] = await readOutbox<{ n: number }>(accountId, 'SELECT count(*) AS n FROM deliveries');
  expect(counted).toEqual({ n: 3_000 });
  const read = await runInDurableObject(outbox(accountId), async (object, { storage }) => {
    const counts = countStorage(storage, noCounts());
    await object.alarm();
    return counts.rowsRead;
  });
  const [left] = await readOutbox<{ n: number }>(accountId, 'SELECT count(*) AS n FROM deliveries');
  expect(left).toEqual({ n: 2_000 });
  // To see that none is pending, to find it, and to delete it.
  expect(read / 1_000).toBeLessThan(3.25);
});
