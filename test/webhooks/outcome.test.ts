import { describe, expect, test } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import type { Delivery, Endpoint } from '../../src/webhooks/outbox-tables.ts';
import { type Outcome, applyOutcome } from '../../src/webhooks/outcome.ts';

const NOON = Date.parse('2027-03-10T12:00:00.000Z');
const AT = { nowMs: NOON, random: 0.5 };

const DELIVERY: Delivery = {
  id: 'dlv_1',
  endpointId: 'whe_1',
  eventId: 'evt_1',
  status: 'pending',
  failures: 0,
  dueAtMs: NOON + 30_000,
  lease: 'own-lease',
  error: null,
  createdAtMs: NOON,
};

const ENDPOINT: Endpoint = {
  id: 'whe_1',
  url: 'https://example.org/',
  urlRevision: 3,
  description: null,
  events: null,
  sealedSecret: '',
  earlierSecrets: [],
  disabledReason: null,
  disabledAtMs: null,
  failingSinceMs: null,
  heldUntilMs: null,
  goneAtMs: null,
  serviceHost: 'latchkey.test',
  createdAtMs: NOON,
  updatedAtMs: NOON,
};

const JOB = { lease: 'own-lease', urlRevision: 3 };

const outcome = (statusCode: number | null, retryAfterMs: number | null = null): Outcome => ({
  ok: statusCode === 200,
  atMs: NOON - 100,
  statusCode,
  error: statusCode === 200 ? null : 'a failure',
  durationMs: 100,
  response: null,
  retryAfterMs,
});

const FAILING = { ...ENDPOINT, failingSinceMs: NOON - DAY_MS };

test('a success marks the delivery as delivered and resets failing_since', () => {
  expect(applyOutcome(DELIVERY, JOB, FAILING, outcome(200), AT)).toEqual({
    delivery: { ...DELIVERY, status: 'delivered', lease: null },
    health: { failingSinceMs: null, heldUntilMs: null, goneAtMs: null },
    disable: null,
  });
});

test.for([
  { name: 'after another consumer took the lease', changes: { lease: 'other-lease' } },
  {
    name: 'after the delivery failed permanently',
    changes: { status: 'failed' as const, lease: null, failures: 10 },
  },
])('a success counts even $name', ({ changes }) => {
  const { delivery } = applyOutcome({ ...DELIVERY, ...changes }, JOB, ENDPOINT, outcome(200), AT);
  expect(delivery).toMatchObject({ status: 'delivered', lease: null });
});

test('a first failure schedules a retry and sets failing_since to the time of the attempt', () => {
  expect(applyOutcome(DELIVERY, JOB, ENDPOINT, outcome(null), AT)).toEqual({
    delivery: { ...DELIVERY, failures: 1, lease: null, dueAtMs: NOON + 5_000 },
    health: { failingSinceMs: NOON - 100, heldUntilMs: null, goneAtMs: null },
    disable: null,
  });
});

test('a later failure keeps failing_since, and a Retry-After holds the endpoint back', () => {
  const { health } = applyOutcome(DELIVERY, JOB, FAILING, outcome(429, 60_000), AT);
  expect(health).toEqual({ failingSinceMs: NOON - DAY_MS, heldUntilMs: NOON + 60_000, goneAtMs: null });
});

test('the tenth failure fails the delivery permanently', () => {
  const last = applyOutcome({ ...DELIVERY, failures: 9 }, JOB, ENDPOINT, outcome(500), AT);
  expect(last.delivery).toMatchObject({ status: 'failed', failures: 10, lease: null });
});

test.for([
  { name: 'another consumer holds the lease', lease: 'other-lease' },
  { name: 'the lease has expired', lease: null },
])('a failure leaves the delivery unchanged when $name', ({ lease }) => {
  const late = applyOutcome({ ...DELIVERY, lease }, JOB, ENDPOINT, outcome(500), AT);
  expect(late.delivery).toBeNull();
});

test.for([
  { name: 'a 410', failingForMs: null, statusCode: 410, disable: null },
  {
    name: 'a 410 after five days of failures',
    failingForMs: 5 * DAY_MS,
    statusCode: 410,
    disable: 'failing',
  },
  {
    name: 'a 500 after five days of failures',
    failingForMs: 5 * DAY_MS,
    statusCode: 500,
    disable: 'failing',
  },
  {
    name: 'no response just before five days',
    failingForMs: 5 * DAY_MS - 1,
    statusCode: null,
    disable: null,
  },
  { name: 'a success after five days of failures', failingForMs: 5 * DAY_MS, statusCode: 200, disable: null },
])('the disabled reason after $name is $disable', ({ failingForMs, statusCode, disable }) => {
  const failingSinceMs = failingForMs === null ? null : NOON - failingForMs;
  const result = applyOutcome(DELIVERY, JOB, { ...ENDPOINT, failingSinceMs }, outcome(statusCode), AT);
  expect(result.disable).toBe(disable);
});

describe('a 410', () => {
  const MINUTES_5 = 5 * 60_000;
  const after410 = (msBefore: number) => ({ ...ENDPOINT, goneAtMs: NOON - 100 - msBefore });

  test('holds the endpoint back for five minutes, and is remembered', () => {
    const { health, disable } = applyOutcome(DELIVERY, JOB, ENDPOINT, outcome(410), AT);
    expect(health).toEqual({
      failingSinceMs: NOON - 100,
      heldUntilMs: NOON + MINUTES_5,
      goneAtMs: NOON - 100,
    });
    expect(disable).toBeNull();
  });

  test('disables the endpoint if an attempt that began five minutes later says so, too', () => {
    expect(applyOutcome(DELIVERY, JOB, after410(MINUTES_5), outcome(410), AT).disable).toBe('gone');
    expect(applyOutcome(DELIVERY, JOB, after410(MINUTES_5 - 1), outcome(410), AT).disable).toBeNull();
  });

  test.for([200, 500, null])('means nothing anymore once an attempt ends with %s', (statusCode) => {
    const { health, disable } = applyOutcome(DELIVERY, JOB, after410(MINUTES_5), outcome(statusCode), AT);
    expect([health.goneAtMs, disable]).toEqual([null, null]);
  });
});

describe('a response from an earlier URL', () => {
  const earlier = { ...JOB, urlRevision: 2 };

  test.for([410, 500, null])('with status %s makes the delivery due now and nothing else', (statusCode) => {
    expect(applyOutcome(DELIVERY, earlier, ENDPOINT, outcome(statusCode, 60_000), AT)).toEqual({
      delivery: { ...DELIVERY, lease: null, dueAtMs: NOON },
      health: { failingSinceMs: null, heldUntilMs: null, goneAtMs: null },
      disable: null,
    });
  });

  test('leaves a delivery that another consumer leased unchanged', () => {
    const leased = { ...DELIVERY, lease: 'other-lease' };
    expect(applyOutcome(leased, earlier, FAILING, outcome(410), AT)).toEqual({
      delivery: null,
      health: { failingSinceMs: FAILING.failingSinceMs, heldUntilMs: null, goneAtMs: null },
      disable: null,
    });
  });

  test('with status 200 delivers the event and keeps failing_since of the current URL', () => {
    const { delivery, health } = applyOutcome(DELIVERY, earlier, FAILING, outcome(200), AT);
    expect([delivery?.status, health.failingSinceMs]).toEqual(['delivered', FAILING.failingSinceMs]);
  });
});
