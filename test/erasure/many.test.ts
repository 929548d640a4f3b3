import { runDurableObjectAlarm } from 'cloudflare:test';
import { expect, onTestFinished, test, vi } from 'vitest';
import { recordStatements } from '../support/d1-queries.ts';
import { accountsD1, firstD1 } from '../support/databases.ts';
import { wakingBy } from '../support/erasing.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { doWork, runHourly } from '../support/hourly.ts';
import { insertAccounts } from '../support/insert-accounts.ts';
import { gateIn } from '../support/moving.ts';

/** Accounts that have been due since the given times. */
const insertDue = async (dueMs: number[]): Promise<string[]> =>
  (await insertAccounts(dueMs.map((eraseAt) => ({ createdAt: 1, eraseAt })))).map(({ id }) => id);

const count = (d1: D1Database, table: string) =>
  d1.prepare(`SELECT count(*) AS n FROM ${table}`).first<number>('n');

const AT_ONCE = 25;

const runAlarms = async (ids: string[]) => {
  for (let from = 0; from < ids.length; from += AT_ONCE)
    await Promise.all(
      ids.slice(from, from + AT_ONCE).map((id) => runDurableObjectAlarm(gateIn(id, 1)).catch(() => {})),
    );
  // Objects restart a little later.
  await scheduler.wait(25);
};

test('a run goes on after the last account that was woken before, so that none is in the way of the others', async () => {
  useFakeClock();
  const due = await insertDue(Array.from({ length: 3_000 }, (_, i) => 1_000 + i));
  const woken: string[] = [];
  const env = wakingBy(async (id) => {
    woken.push(id);
  });
  await runHourly(env);
  // The oldest come first.
  expect(woken).toEqual(due.slice(0, 2_000));
  await runHourly(env);
  expect(woken).toEqual(due);
  await runHourly(env);
  expect(woken).toEqual([...due, ...due.slice(0, 2_000)]);
  for (const table of ['accounts', 'scheduled_positions'])
    await accountsD1.prepare(`DELETE FROM ${table}`).run();
  await firstD1.prepare('DELETE FROM users').run();
});

test('40 due accounts are erased after one run of the hourly work, and one that is stuck delays no other', async () => {
  useFakeClock();
  const [stuck, ...others] = await insertDue(Array.from({ length: 41 }, (_, i) => i + 1));
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => logged.mockRestore());
  const env = wakingBy((id, wakeGate) =>
    id === stuck ? Promise.reject(new Error('The object is overloaded.')) : wakeGate(),
  );
  const { statements } = await recordStatements(() => doWork('wakeErasures', env));
  expect(statements.length).toBeLessThan(20);
  expect(logged.mock.calls.join()).toContain('erasure_not_begun');
  // They begin within ten seconds, and look a second time five minutes later.
  for (const minutes of [1, 0, 5]) {
    vi.setSystemTime(Date.now() + minutes * 60_000 + 1);
    await runAlarms(others);
  }
  expect(await count(accountsD1, 'accounts')).toBe(1);
  expect(await count(firstD1, 'users')).toBe(1);
});
