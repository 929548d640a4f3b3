import { runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { newEvent } from '../../src/shared/text/events.ts';
import type { DeliveryJob } from '../../src/webhooks/jobs.ts';
import { countStorage, noCounts } from '../bench/fixtures/count-storage.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { loseHints, outbox } from '../support/outbox.ts';
import { sellerWithWebhook } from '../support/worlds.ts';

// The rows that the outbox writes for delivered webhooks, as Cloudflare bills them. An index entry counts like a row.

const OK = {
  ok: true,
  atMs: 0,
  statusCode: 200,
  error: null,
  durationMs: 1,
  response: 'ok',
  retryAfterMs: null,
};

afterEach(() => {
  vi.restoreAllMocks();
});

/** Delivers events to one endpoint and returns the rows written by each stage, without those of the alarm. */
const rowsOf = async (events: number) => {
  loseHints();
  useFakeClock();
  const { ada, id } = await sellerWithWebhook();
  return runInDurableObject(outbox(ada.accountId), async (object, { storage }) => {
    const counts = countStorage(storage, noCounts());
    const count = async (work: () => Promise<void>) => {
      const before = { ...counts };
      await work();
      return counts.rows - before.rows - (counts.alarmsSet - before.alarmsSet);
    };
    const accept = await count(async () => {
      const accepted = Array.from({ length: events }, () =>
        newEvent('license.created', Date.now(), { customer_email: 'grace@example.com' }),
      );
      await object.accept(JSON.stringify(accepted));
    });
    let jobs: DeliveryJob[] = [];
    const claim = await count(async () => {
      jobs = object.claim(id);
    });
    const settle = await count(async () => {
      for (let job = jobs.pop(); job; job = jobs.pop()) {
        const next = await object.settle(id, job, { ...OK, atMs: Date.now() }, true);
        if (next) jobs.push(next);
      }
    });
    vi.setSystemTime(Date.now() + 31 * DAY_MS);
    const forget = await count(() => object.alarm());
    return { accept, claim, settle, forget };
  });
};

test('a webhook of a busy endpoint writes at most five rows, from its event to its deletion', async () => {
  const events = 300;
  const { accept, claim, settle, forget } = await rowsOf(events);
  expect((accept + claim + settle + forget) / events).toBeLessThanOrEqual(5);
});

test('a lone webhook writes seven rows', async () => {
  expect(await rowsOf(1)).toEqual({ accept: 2, claim: 1, settle: 2, forget: 2 });
});
