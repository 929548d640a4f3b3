import { runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { outcomeOf } from '../support/client.ts';
import { cancelMove, runMove, startMove } from '../support/database-move.ts';
import { firstD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate } from '../support/gate.ts';
import { findInD1 } from '../support/leftovers.ts';
import { withOperatorToken } from '../support/operator.ts';
import { waitUntil } from '../support/wait-until.ts';
import { sellerWithLicense } from '../support/worlds.ts';

beforeEach(() => {
  onTestFinished(withOperatorToken());
  useFakeClock();
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
});

const d1 = Object.getPrototypeOf(env.DB) as D1Database;
const prepare = Reflect.get(d1, 'prepare');
const batch = Reflect.get(d1, 'batch') as (
  this: D1Database,
  all: D1PreparedStatement[],
) => Promise<D1Result[]>;

/** A query that is part of the step. Draining reads the feed, in a batch. */
const QUERIES: Record<string, string> = {
  beginning: 'SELECT 1',
  closing: 'SELECT day FROM expiry_pass',
};

/** Holds up a query of a step, once, after some others. */
const holdUp = (step: string, others = 0) => {
  const held = { isReached: false, isReleased: false };
  let left = others;
  const wait = async () => {
    if (held.isReached || left-- > 0) return;
    held.isReached = true;
    while (!held.isReleased) await scheduler.wait(5);
  };
  if (step === 'draining')
    vi.spyOn(d1, 'batch').mockImplementation(async function (this: D1Database, all) {
      await wait();
      return batch.call(this, all);
    });
  else
    vi.spyOn(d1, 'prepare').mockImplementation(function (this: D1Database, query) {
      const statement = prepare.call(this, query);
      if (query !== QUERIES[step]) return statement;
      const after = (result: () => Promise<unknown>) => async () => {
        await wait();
        return result();
      };
      const held = { first: after(async () => statement.first()), run: after(async () => statement.run()) };
      return held as unknown as D1PreparedStatement;
    });
  return held;
};

const runAlarm = (accountId: string) => {
  vi.setSystemTime(Date.now() + 16_000);
  return runDurableObjectAlarm(gate(accountId));
};

test.each(['closing', 'draining'])('a move that is canceled in the middle of %s is undone', async (step) => {
  const { ada, license } = await sellerWithLicense();
  await startMove(ada.accountId, 'DB');
  await runMove(ada.accountId, step);
  const held = holdUp(step);
  const alarm = runAlarm(ada.accountId);
  await waitUntil(() => held.isReached);
  expect(outcomeOf(await cancelMove(ada.accountId))).toBe('202 ok');
  held.isReleased = true;
  await alarm;
  expect(await runMove(ada.accountId)).toMatchObject({
    database: 'DB2',
    last_move: { problem: 'The operator has canceled the move.' },
  });
  expect(await findInD1(firstD1, [license.license_key as string])).toEqual([]);
  expect((await ada.createLicense()).id).toBeTypeOf('string');
});

test('an account that stays can be changed before the other database answers again', async () => {
  const { ada, license } = await sellerWithLicense();
  await startMove(ada.accountId, 'DB');
  await runMove(ada.accountId, 'comparing');
  const lost = vi.spyOn(d1, 'prepare').mockImplementation(function (this: D1Database, query) {
    if (query === 'DELETE FROM accounts WHERE id = ?') throw new Error('D1_ERROR: Network connection lost.');
    return prepare.call(this, query);
  });
  await cancelMove(ada.accountId);
  for (let i = 0; i < 3; i++) await runAlarm(ada.accountId);
  const created = await ada.createLicense();
  expect((await ada.verify(created.license_key)).body.valid).toBe(true);
  expect((await startMove(ada.accountId, 'DB2')).body.error.message).toContain('moves to DB');

  lost.mockRestore();
  expect(await runMove(ada.accountId)).toMatchObject({ database: 'DB2' });
  expect(await findInD1(firstD1, [license.license_key as string])).toEqual([]);
  const listed = await ada.asKey('GET', '/api/v1/licenses?limit=100');
  expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([created.id, license.id]);
});

test('an account does not begin to move to another database and to another region at once', async () => {
  const { ada } = await sellerWithLicense();
  const held = holdUp('beginning', 1);
  const begun = startMove(ada.accountId, 'DB');
  await waitUntil(() => held.isReached);
  expect(await gate(ada.accountId).startMove('weur')).toMatchObject({ movingTo: 'weur' });
  held.isReleased = true;
  expect(outcomeOf(await begun)).toBe('409 invalid_transition');
});
