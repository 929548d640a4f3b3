import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { backUp, restore } from '../support/backup.ts';
import { cancelMove, runMove, startMove } from '../support/database-move.ts';
import { accountsD1, firstD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate } from '../support/gate.ts';
import { findInD1 } from '../support/leftovers.ts';
import { withOperatorToken } from '../support/operator.ts';
import { sellerWithLicense } from '../support/worlds.ts';

// Backups of an account's objects, which moves between databases in the meantime.

beforeEach(() => {
  onTestFinished(withOperatorToken());
  useFakeClock();
});

/** Lets D1 fail in the last statement that removes the account from a database. */
const loseCleanUp = () => {
  const d1 = Object.getPrototypeOf(env.DB) as D1Database;
  const prepare = Reflect.get(d1, 'prepare');
  const lost = vi.spyOn(d1, 'prepare').mockImplementation(function (this: D1Database, query) {
    if (query === 'DELETE FROM accounts WHERE id = ?') throw new Error('D1_ERROR: Network connection lost.');
    return prepare.call(this, query);
  });
  onTestFinished(() => lost.mockRestore());
  return lost;
};

const runAlarms = async (accountId: string, times: number) => {
  for (let i = 0; i < times; i++) {
    vi.setSystemTime(Date.now() + 16_000);
    await runDurableObjectAlarm(gate(accountId));
  }
};

const storedMove = (accountId: string) =>
  runInDurableObject(gate(accountId), (_gate, { storage }) => storage.kv.get('database_move'));

/** A backup as an earlier release made it: with the move as it was at the time. */
const withMove = (backup: string, move: unknown): string =>
  backup
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; object?: string; values?: unknown[] })
    .map((line) =>
      line.type === 'values' && line.object === 'gate'
        ? { ...line, values: [...(line.values ?? []), ['database_move', move]] }
        : line,
    )
    .map((line) => JSON.stringify(line))
    .join('\n');

test.for([false, true])(
  'a backup from the middle of a move that was undone deletes nothing of an account that has moved since (earlier release: %s)',
  async (isOfEarlierRelease) => {
    const { ada, license } = await sellerWithLicense();
    await startMove(ada.accountId, 'DB');
    await runMove(ada.accountId, 'comparing');
    const lost = loseCleanUp();
    await cancelMove(ada.accountId);
    await runAlarms(ada.accountId, 3);
    const made = await backUp(ada.accountId);
    const backup = isOfEarlierRelease ? withMove(made, await storedMove(ada.accountId)) : made;
    lost.mockRestore();
    expect(await runMove(ada.accountId)).toMatchObject({ database: 'DB2' });
    await startMove(ada.accountId, 'DB');
    expect(await runMove(ada.accountId)).toMatchObject({ database: 'DB', move: null });

    await restore(ada.accountId, backup);
    await runAlarms(ada.accountId, 10);
    expect(await findInD1(firstD1, [license.license_key as string])).toContain('licenses');
  },
);

test('a move that is under way while a backup is restored comes to its end', async () => {
  const { ada } = await sellerWithLicense();
  const backup = await backUp(ada.accountId);
  await startMove(ada.accountId, 'DB');
  await runMove(ada.accountId, 'opening');
  const lost = loseCleanUp();
  await runMove(ada.accountId, 'cleaning');
  await restore(ada.accountId, backup);
  lost.mockRestore();
  await runAlarms(ada.accountId, 10);
  const { results } = await accountsD1
    .prepare('SELECT state FROM moved_accounts WHERE id = ?')
    .bind(ada.accountId)
    .all();
  expect(results).toEqual([{ state: 'gone' }]);
  expect(await runMove(ada.accountId)).toMatchObject({ database: 'DB', last_move: { problem: null } });
});
