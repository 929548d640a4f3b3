import { runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { newEvent } from '../../src/shared/text/events.ts';
import { loseHints, outbox } from '../support/outbox.ts';
import { sellerWithWebhook } from '../support/worlds.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const FAILED = { ok: false, statusCode: 500, error: '', durationMs: 1, response: '', retryAfterMs: null };

/** Collects the plans of the statements that run from now on. */
const watchPlans = (sql: SqlStorage) => {
  const plans = new Map<string, string[]>();
  const exec = sql.exec.bind(sql);
  vi.spyOn(sql, 'exec').mockImplementation((query: string, ...bindings: unknown[]) => {
    const steps = exec<{ detail: string }>(`EXPLAIN QUERY PLAN ${query}`, ...bindings).toArray();
    plans.set(
      query,
      steps.map(({ detail }) => detail),
    );
    return exec(query, ...bindings);
  });
  return plans;
};

test('no call to an outbox scans its events, deliveries or retries', async () => {
  loseHints();
  const { ada, id } = await sellerWithWebhook();
  const plans = await runInDurableObject(outbox(ada.accountId), async (object, { storage }) => {
    const watched = watchPlans(storage.sql);
    const { cursor = 0 } = (await object.listen(null)) ?? {};
    const events = Array.from({ length: 3 }, () =>
      newEvent('license.created', Date.now(), { customer_email: 'grace@example.com' }),
    );
    await object.accept(JSON.stringify(events));
    const jobs = object.claim(id);
    for (const job of jobs) await object.settle(id, job, { ...FAILED, atMs: Date.now() }, true);
    await object.resend(id, jobs[0]!.deliveryId);
    object.claim(id);
    object.listDeliveries(id, 20, null);
    object.summary();
    await object.listen(cursor);
    await object.updateEndpoint(id, { url: 'https://example.org/hooks' });
    await object.alarm();
    await object.updateEndpoint(id, { disabledReason: 'by_you' });
    await object.deleteEndpoint(id);
    return watched;
  });
  expect(plans.size).toBeGreaterThan(25);
  const scans = [...plans].filter(
    ([query, steps]) =>
      steps.some((step) => /^SCAN (event_blocks|deliveries|retries|arrivals)/.test(step)) &&
      // The newest rows by key.
      !(query.includes(' LIMIT ') && !query.includes('WHERE')),
  );
  expect(scans).toEqual([]);
});
