import { runInDurableObject } from 'cloudflare:test';
import { expect, test } from 'vitest';
import { backUp, restore } from '../support/backup.ts';
import { signUp } from '../support/client.ts';
import { gate, kill } from '../support/gate.ts';
import { killOutbox, outbox } from '../support/outbox.ts';

/** What an object stores of what is under way: changes of requests, an import or export, attempts that know an erased person. */
const UNDER_WAY = ['announced', 'transfer', 'erased_at_ms'];

const underWay = async (accountId: string) => {
  const values = [];
  for (const object of [gate(accountId), outbox(accountId)])
    values.push(
      ...(await runInDurableObject(object as DurableObjectStub, (_instance, { storage }) => [
        ...storage.kv.list(),
      ])),
    );
  return values.filter(([name]) => UNDER_WAY.includes(name));
};

test('a restore neither forgets what is under way nor brings back what was under way at the time of the backup', async () => {
  const { accountId } = await signUp();
  const begin = async (id: string) => {
    expect(await gate(accountId).announce(id, null, id)).toMatchObject({ refused: null });
    expect(await gate(accountId).takeTransferTurn(id, 0)).toMatchObject({ refused: null });
    await outbox(accountId).eraseEvents({ licenseIds: [], emails: [`${id}@example.com`] }, '');
  };
  await begin('earlier');
  const backup = await backUp(accountId);
  for (const name of UNDER_WAY) expect(backup).not.toContain(`"${name}"`);
  await gate(accountId).abandon('earlier');
  await gate(accountId).endTransfer('earlier');
  await begin('later');
  const before = await underWay(accountId);
  expect(before.map(([name]) => name)).toEqual(UNDER_WAY);

  await restore(accountId, backup);
  // What is only in memory is lost.
  await kill(accountId);
  await killOutbox(accountId);
  expect(await underWay(accountId)).toEqual(before);
});
