import { runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { outcomeOf, signUp } from '../support/client.ts';
import { finishErasure } from '../support/erasing.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { findLeftovers } from '../support/leftovers.ts';
import { gateIn } from '../support/moving.ts';

const MINUTE_MS = 60_000;

/** Lets every query of D1 fail. Returns a function that brings it back. */
const loseD1 = () => {
  const statement = Object.getPrototypeOf(env.DB.prepare('SELECT 1')) as Record<string, () => unknown>;
  const database = Object.getPrototypeOf(env.DB) as Record<string, () => unknown>;
  const lost = () => Promise.reject(new Error('D1_ERROR: Network connection lost.'));
  const spies = [
    vi.spyOn(database, 'batch'),
    ...['all', 'raw', 'run', 'first'].map((name) => vi.spyOn(statement, name)),
  ];
  for (const spy of spies) spy.mockImplementation(lost);
  const stop = () => spies.forEach((spy) => spy.mockRestore());
  onTestFinished(stop);
  return stop;
};

/** Runs the gate's alarm every five minutes. Returns how often one was set. */
const runAlarmsFor = async (accountId: string, ms: number): Promise<number> => {
  let runs = 0;
  for (const endMs = Date.now() + ms; Date.now() < endMs;) {
    vi.setSystemTime(Date.now() + 5 * MINUTE_MS);
    runs += Number(await runDurableObjectAlarm(gateIn(accountId, 1)));
  }
  return runs;
};

test('an erasure whose time comes while D1 is away for an hour goes on within minutes of its return', async () => {
  useFakeClock();
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  const ada = await signUp();
  const license = await ada.createLicense({ customer_email: 'ann@outage.example' });
  const confirmed = { current_password: ada.password, confirm: ada.email };
  const { body } = await ada.asSession('DELETE', '/api/account', confirmed);
  vi.setSystemTime(Date.parse(body.erased_by));
  const bringBack = loseD1();
  expect(await runAlarmsFor(ada.accountId, HOUR_MS)).toBe(12);
  expect(logged.mock.calls.join()).toContain('erasure_not_finished');
  expect(outcomeOf(await ada.verify(license.license_key))).toBe('403 api_key_invalid');
  bringBack();
  const backMs = Date.now();
  // After so many failures, it tries again once in five minutes.
  vi.setSystemTime(backMs + 5 * MINUTE_MS);
  await finishErasure(ada.accountId);
  // It looks a second time after five minutes.
  expect(Date.now() - backMs).toBeLessThan(11 * MINUTE_MS);
  expect(await findLeftovers(ada.accountId, [ada.accountId, ada.email, 'ann@outage.example'])).toEqual([]);
});
