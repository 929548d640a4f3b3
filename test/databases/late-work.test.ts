import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { accountDatabases } from '../../src/db/client.ts';
import { accounts } from '../../src/db/schema.ts';
import { commit } from '../../src/gate/worker/commit.ts';
import { runMove, startMove } from '../support/database-move.ts';
import { accountsD1, ctxOf } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { findInD1 } from '../support/leftovers.ts';
import { withOperatorToken } from '../support/operator.ts';
import { sellerWithLicense } from '../support/worlds.ts';

beforeEach(() => {
  onTestFinished(withOperatorToken());
  useFakeClock();
});

test('hourly work that has found an account before it moved writes nothing into the database that it has left', async () => {
  const { ada } = await sellerWithLicense();
  const db = accountDatabases(env)[1]!.db;
  await startMove(ada.accountId, 'DB');
  await runMove(ada.accountId);
  const late = commit(
    { ...ctxOf(ada.accountId), db },
    [db.update(accounts).set({ eraseAt: 1 }).where(eq(accounts.id, ada.accountId))],
    [{ kind: 'account', ref: ada.accountId }],
    { isBeyondLimits: true },
  );
  await expect(late).rejects.toThrow('moved_accounts.id');
  expect(await findInD1(accountsD1, [ada.accountId])).toEqual(['moved_accounts']);
});
