import { describe, expect, test, vi } from 'vitest';
import { type Answer, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';

const BEFORE_MIDNIGHT = '2027-03-10T23:59:00.000Z';
const AFTER_MIDNIGHT = '2027-03-11T00:01:00.000Z';

const TIMINGS = ['in parallel', 'later', 'in parallel after midnight'];

const CASES = ['a generated key', 'its own license_key'].flatMap((key) =>
  TIMINGS.flatMap((timing) =>
    ['the same body', 'another body'].map((repeated) => ({ key, timing, repeated })),
  ),
);

const headersOf = (answer?: Answer) =>
  [...(answer?.headers.keys() ?? [])].filter((name) => name !== 'idempotency-replayed');

describe('a create with an Idempotency-Key', () => {
  test.for(CASES)('with $key, repeated $timing with $repeated', async ({ key, timing, repeated }) => {
    useFakeClock(BEFORE_MIDNIGHT);
    const ada = await signUp();
    const body = {
      product: 'Orrery',
      expires_at: '2027-03-10',
      ...(key === 'its own license_key' && { license_key: 'ORRERY-0001' }),
    };
    const isSameBody = repeated === 'the same body';
    const otherBody = isSameBody ? body : { ...body, product: 'Astrolabe' };
    const create = (sent: object) =>
      ada.asKey('POST', '/api/v1/licenses/create', sent, { 'idempotency-key': 'order-1' });
    const createAll = (bodies: object[]) => Promise.all(bodies.map(create));

    const firsts = await createAll(
      timing === 'in parallel' ? [body, otherBody, body, otherBody, body, otherBody] : [body],
    );
    if (timing.endsWith('after midnight')) vi.setSystemTime(AFTER_MIDNIGHT);
    const repeats =
      timing === 'in parallel' ? [] : await createAll(Array(timing === 'later' ? 1 : 6).fill(otherBody));

    const answers = [...firsts, ...repeats];
    const [first, ...same] = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status !== 201);
    // Of two bodies in parallel, either one may win.
    const expectedRefused = isSameBody ? 0 : timing === 'in parallel' ? 3 : repeats.length;
    expect(refused.map((answer) => [answer.status, answer.body.error.code])).toEqual(
      Array.from({ length: expectedRefused }, () => [409, 'idempotency_conflict']),
    );
    for (const answer of same) {
      // After its last day, the license is expired.
      expect(answer.body).toEqual({ ...first?.body, status: answer.body.status });
      expect(headersOf(answer)).toEqual(headersOf(first));
    }
    const replayed = [first, ...same].map((answer) => answer?.headers.get('idempotency-replayed') ?? null);
    // Of creates in parallel, any one may be the first.
    expect(replayed.filter((value) => value !== 'true')).toEqual([null]);

    const { body: dashboard } = await ada.asSession('GET', '/api/dashboard');
    expect([dashboard.usage.api_usage, dashboard.licenses.total]).toEqual([1, 1]);
  });
});
