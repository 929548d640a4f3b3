import { expect, test } from 'vitest';
import { DAY_MS } from '../../../src/shared/rules/dates.ts';
import { LICENSE_KEY, status } from '../support/fake-service.ts';
import { setUp } from '../support/setup.ts';

const ENDED = { updates_until: '2026-06-30' };
const NEW_RELEASE = { releaseDate: '2026-11-01' };

test('a stored token does not cover a release after updates_until', async () => {
  const { service, create, activate } = await setUp();
  service.terms.statement = ENDED;
  expect((await activate({ releaseDate: '2026-06-30' })).state).toMatchObject({ valid: true });
  service.always = status(404);
  const next = create(NEW_RELEASE);
  void next.start();
  await next.stop();
  expect(next.state).toMatchObject({ valid: false, code: 'updates_ended' });
  expect(next.has('export')).toBe(false);
});

test('an offline file does not cover a release after updates_until', async () => {
  const { service, create } = await setUp();
  const license = create(NEW_RELEASE);
  const file = await service.sign({ kind: 'offline', nonce: null, ...ENDED });
  expect(await license.loadFile(file)).toMatchObject({ valid: false, code: 'updates_ended' });
  expect(license.state.valid).toBe(false);
});

test('a proxy that drops release_date from the call does not make the license valid', async () => {
  const { time, service, create } = await setUp();
  service.terms.statement = ENDED;
  const license = create(NEW_RELEASE);
  expect(await time.drive(license.activate(LICENSE_KEY))).toMatchObject({
    valid: false,
    code: 'updates_ended',
  });
  await license.stop();
});

test('a proxy that drops the activation from an answer does not prolong the lease', async () => {
  const { time, service, create } = await setUp();
  service.terms = { ...service.terms, leaseMs: 900_000, statement: { offline_days: 0 } };
  service.terms.body = { activation: null };
  const license = create();
  await license.start();
  expect(await time.drive(license.activate(LICENSE_KEY))).toMatchObject({ valid: true });
  service.always = status(404);
  time.nowMs += 899_000;
  expect(license.state.valid).toBe(true);
  time.nowMs += 1_000;
  expect(license.state).toMatchObject({ valid: false, code: 'offline_expired' });
  await license.stop();
});

test('a proxy that changes the lease in an answer does not prolong the verdict', async () => {
  const { time, service, create } = await setUp();
  service.terms = { ...service.terms, leaseMs: DAY_MS, statement: { offline_days: 0 } };
  service.terms.body = {
    activation: { id: 'act_0VJ1mKq7XbT2c9LpQwZa', lease_until: '2036-01-01T00:00:00.000Z' },
  };
  const license = create();
  await license.start();
  expect(await time.drive(license.activate(LICENSE_KEY))).toMatchObject({ valid: true });
  service.always = status(404);
  time.nowMs += 2 * DAY_MS;
  expect(license.state).toMatchObject({ valid: false, code: 'offline_expired' });
  await license.stop();
});
