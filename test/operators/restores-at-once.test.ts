import { expect, test } from 'vitest';
import { restoreBackup } from '../../src/operators/restore.ts';
import { backUp, restore, useOperator } from '../support/backup.ts';
import { ctxOf } from '../support/databases.ts';
import { readGate } from '../support/gate.ts';
import { readOutbox } from '../support/outbox.ts';
import { sellerWithWebhook } from '../support/worlds.ts';

useOperator();

const MACHINES = ['machine-0001', 'machine-0002'];

/** A seller with two machines, and the lines of a backup. */
const openAccount = async () => {
  const { ada } = await sellerWithWebhook();
  const { license_key } = await ada.createLicense();
  for (const fingerprint of MACHINES)
    await ada.asKey('POST', '/api/v1/licenses/activate', { license_key, fingerprint });
  const owned = async () => [
    await readGate(ada.accountId, 'SELECT fingerprint FROM activations ORDER BY fingerprint'),
    await readOutbox(ada.accountId, 'SELECT id FROM endpoints'),
  ];
  const backup = await backUp(ada.accountId);
  return { ada, backup, lines: backup.split('\n').map((line) => `${line}\n`), owned };
};

/** Begins a restore that gets its lines little by little. `send` returns once they were taken, or the restore has ended. */
const beginRestore = (accountId: string) => {
  const given: string[] = [];
  let more = Promise.withResolvers<void>();
  let taken = Promise.withResolvers<void>();
  async function* body() {
    for (;;) {
      for (let line = given.shift(); line; line = given.shift()) yield new TextEncoder().encode(line);
      taken.resolve();
      await more.promise;
    }
  }
  const stream = body() as unknown as ReadableStream<Uint8Array>;
  const ended = restoreBackup(ctxOf(accountId), stream, true).then(
    () => 'restored',
    (error: unknown) => String(error),
  );
  const send = async (lines: string[]) => {
    given.push(...lines);
    const wake = more.resolve;
    [more, taken] = [Promise.withResolvers(), Promise.withResolvers()];
    wake();
    await Promise.race([taken.promise, ended]);
  };
  return { send, ended };
};

test('of two restores of an account at once, the one that began first fails, and the other brings back everything', async () => {
  const { ada, backup, lines, owned } = await openAccount();
  const before = await owned();
  expect(before).toMatchObject([[{}, {}], [{}]]);
  // Both are repeats: the objects have taken the backup before.
  await restore(ada.accountId, backup);

  const [one, other] = [beginRestore(ada.accountId), beginRestore(ada.accountId)];
  await one.send(lines.slice(0, -1));
  await other.send(lines.slice(0, 2));
  await one.send(lines.slice(-1));
  expect(await one.ended).toContain('Another restore of the account has begun');
  expect(await owned()).toEqual(before);
  await other.send(lines.slice(2));
  expect(await other.ended).toBe('restored');
  expect(await owned()).toEqual(before);
});

test('a restore that stands still is overtaken by the next one, and can’t go on', async () => {
  const { ada, backup, lines, owned } = await openAccount();
  const before = await owned();
  const one = beginRestore(ada.accountId);
  await one.send(lines.slice(0, 3));
  await restore(ada.accountId, backup);
  await one.send(lines.slice(3));
  expect(await one.ended).toContain('Another restore of the account has begun');
  expect(await owned()).toEqual(before);
});
