import { expect, test } from 'vitest';
import { type Outcome, settled } from '../../src/webhooks/outcome.ts';
import type { Delivery, Endpoint } from '../../src/webhooks/outbox-tables.ts';

const NOON = Date.parse('2027-03-10T12:00:00.000Z');
const DAY_MS = 86_400_000;
const AT = { nowMs: NOON, dice: 0.5 };

const DELIVERY: Delivery = {
  id: 'dlv_1',
  endpointId: 'whe_1',
  eventId: 'evt_1',
  status: 'pending',
  failures: 0,
  dueAtMs: NOON + 30_000,
  lease: 'mine',
  createdAtMs: NOON,
};

const ENDPOINT: Endpoint = {
  id: 'whe_1',
  url: 'https://example.org/',
  description: null,
  events: null,
  sealedSecret: '',
  oldSealedSecret: null,
  oldSecretUntilMs: null,
  disabledReason: null,
  failingSinceMs: null,
  serviceHost: 'latchkey.test',
  createdAtMs: NOON,
  updatedAtMs: NOON,
};

const answered = (statusCode: number | null, retryAfterMs: number | null = null): Outcome => ({
  ok: statusCode === 200,
  atMs: NOON - 100,
  statusCode,
  error: statusCode === 200 ? null : 'a failure',
  durationMs: 100,
  response: null,
  retryAfterMs,
});

const FAILING = { ...ENDPOINT, failingSinceMs: NOON - DAY_MS };

test('a success delivers, and ends a row of failures', () => {
  expect(settled(DELIVERY, 'mine', FAILING, answered(200), AT)).toEqual({
    delivery: { ...DELIVERY, status: 'delivered', lease: null },
    failingSinceMs: null,
    disable: null,
  });
});

test('a success counts however late it comes', () => {
  const taken = { ...DELIVERY, lease: 'another’s' };
  const failed = { ...DELIVERY, status: 'failed' as const, lease: null, failures: 10 };
  for (const delivery of [taken, failed]) {
    expect(settled(delivery, 'mine', ENDPOINT, answered(200), AT).delivery).toMatchObject({
      status: 'delivered',
      lease: null,
    });
  }
});

test('a failure is counted and tried again, and the row of failures begins with the attempt', () => {
  expect(settled(DELIVERY, 'mine', ENDPOINT, answered(null), AT)).toEqual({
    delivery: { ...DELIVERY, failures: 1, lease: null, dueAtMs: NOON + 5_000 },
    failingSinceMs: NOON - 100,
    disable: null,
  });
  const asked = settled(DELIVERY, 'mine', FAILING, answered(429, 60_000), AT);
  expect([asked.delivery?.dueAtMs, asked.failingSinceMs]).toEqual([NOON + 60_000, NOON - DAY_MS]);
});

test('the tenth failure is the last', () => {
  const last = settled({ ...DELIVERY, failures: 9 }, 'mine', ENDPOINT, answered(500), AT);
  expect(last.delivery).toMatchObject({ status: 'failed', failures: 10, lease: null });
});

test('a failure of a lease that has passed to somebody else changes nothing in the delivery', () => {
  for (const lease of ['another’s', null]) {
    const late = settled({ ...DELIVERY, lease }, 'mine', ENDPOINT, answered(500), AT);
    expect(late.delivery).toBeNull();
  }
});

test('a 410 gives the endpoint up as gone, and five days of failures as failing', () => {
  const disable = (failingSinceMs: number | null, statusCode: number | null) =>
    settled(DELIVERY, 'mine', { ...ENDPOINT, failingSinceMs }, answered(statusCode), AT).disable;
  expect(disable(null, 410)).toBe('gone');
  expect(disable(NOON - 5 * DAY_MS, 410)).toBe('gone');
  expect(disable(NOON - 5 * DAY_MS, 500)).toBe('failing');
  expect(disable(NOON - 5 * DAY_MS + 1, null)).toBeNull();
  expect(disable(NOON - 5 * DAY_MS, 200)).toBeNull();
});
