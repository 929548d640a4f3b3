import { env } from 'cloudflare:workers';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { isoDate } from '../../src/shared/rules/dates.ts';
import { type Json, outcomeOf } from '../support/client.ts';
import { cancelMove, runMove, startMove } from '../support/database-move.ts';
import { accountsD1, firstD1 } from '../support/databases.ts';
import { finishErasure } from '../support/erasing.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate } from '../support/gate.ts';
import { runHourly } from '../support/hourly.ts';
import { findInD1, findLeftovers } from '../support/leftovers.ts';
import { asOperator, withOperatorToken } from '../support/operator.ts';
import { readEvents } from '../support/outbox.ts';
import { sellerWithLicense } from '../support/worlds.ts';

beforeEach(() => {
  onTestFinished(withOperatorToken());
  useFakeClock();
});

test('an account stays if the other database is full, or has other rows in the place of its own', async () => {
  const { ada, license } = await sellerWithLicense();
  await ada.asSession('PUT', '/api/v1/products/editor', { name: 'Editor', terms: {} });
  const product = firstD1
    .prepare(
      "INSERT INTO products (account_id, code, name, terms, created_at, updated_at) VALUES (?, 'editor', 'Other', '{}', 1, 1)",
    )
    .bind(ada.accountId);
  await product.run();
  await startMove(ada.accountId, 'DB');
  expect(await runMove(ada.accountId)).toMatchObject({
    database: 'DB2',
    move: null,
    last_move: { problem: 'DB has other rows in the place of those of products.' },
  });

  await startMove(ada.accountId, 'DB');
  await runMove(ada.accountId, 'copying');
  const d1 = Object.getPrototypeOf(env.DB) as D1Database;
  const batch = Reflect.get(d1, 'batch') as (
    this: D1Database,
    all: D1PreparedStatement[],
  ) => Promise<D1Result[]>;
  const grown = vi.spyOn(d1, 'batch').mockImplementation(async function (this: D1Database, all) {
    const results = await batch.call(this, all);
    return results.map((result) => ({
      ...result,
      meta: { ...result.meta, size_after: 9_000_000_000 },
    }));
  });
  const found = await runMove(ada.accountId);
  grown.mockRestore();
  expect(found.last_move.problem).toBe('DB takes 9 of its 10 GB by now.');
  expect(await findInD1(firstD1, [license.license_key as string])).toEqual([]);
  expect(
    await firstD1
      .prepare('SELECT count(*) AS n FROM products WHERE account_id = ?')
      .bind(ada.accountId)
      .first<number>('n'),
  ).toBe(0);
  expect((await ada.createLicense()).id).toBeTypeOf('string');
  expect((await ada.verify(license.license_key)).body.valid).toBe(true);
});

test('the operator cancels a move until the account is in the other database, and looks for it where it is', async () => {
  const { ada, license } = await sellerWithLicense();
  const listed = async () =>
    (await asOperator('GET', `/operator/accounts?q=${ada.accountId}`)).body.data.map((found: Json) => [
      found.database,
      found.moving_to,
      found.licenses,
    ]);
  await startMove(ada.accountId, 'DB');
  await runMove(ada.accountId, 'comparing');
  expect(await listed()).toEqual([['DB2', 'DB', 1]]);
  expect(outcomeOf(await cancelMove(ada.accountId))).toBe('202 ok');
  expect(await runMove(ada.accountId)).toMatchObject({
    database: 'DB2',
    last_move: { problem: 'The operator has canceled the move.' },
  });
  expect(await findInD1(firstD1, [license.license_key as string])).toEqual([]);
  expect(await listed()).toEqual([['DB2', null, 1]]);
  const log = await ada.asSession('GET', '/api/audit-log?action=account.move_database');
  expect(log.body.data.map(({ details }: Json) => details)).toEqual([
    { to: 'DB', canceled: true },
    { from: 'DB2', to: 'DB' },
  ]);
  expect(outcomeOf(await cancelMove(ada.accountId))).toBe('409 invalid_transition');

  expect(outcomeOf(await startMove(ada.accountId, 'DB'))).toBe('202 ok');
  expect((await startMove(ada.accountId, 'DB')).body.move.to).toBe('DB');
  expect(outcomeOf(await startMove(ada.accountId, 'DB2'))).toBe('409 invalid_transition');
  for (const step of ['waiting', 'opening', 'cleaning']) {
    await runMove(ada.accountId, step);
    expect(outcomeOf(await cancelMove(ada.accountId))).toBe('409 invalid_transition');
  }
  expect(await listed()).toEqual([['DB', null, 1]]);
  await runMove(ada.accountId);
  expect(await listed()).toEqual([['DB', null, 1]]);
  expect((await startMove(ada.accountId, 'DB')).body).toMatchObject({ database: 'DB', move: null });
  expect(outcomeOf(await startMove(ada.accountId, 'DB7'))).toBe('409 invalid_transition');
});

test('an account that is to be erased while it moves is erased afterwards, from every database', async () => {
  const { ada, license } = await sellerWithLicense();
  await startMove(ada.accountId, 'DB');
  await runMove(ada.accountId);
  const confirmed = { current_password: ada.password, confirm: ada.email };
  expect(outcomeOf(await ada.asSession('DELETE', '/api/account', confirmed))).toBe('202 ok');
  vi.setSystemTime(Date.now() + 8 * 86_400_000);
  await startMove(ada.accountId, 'DB2');
  await runMove(ada.accountId, 'copying');
  await gate(ada.accountId).eraseDue();
  await runMove(ada.accountId);
  await finishErasure(ada.accountId);
  expect(await findLeftovers(ada.accountId, [ada.accountId, license.license_key as string])).toEqual([]);
});

test('the hourly work rests while an account moves, and its move waits until all of today’s events are sent', async () => {
  const { ada } = await sellerWithLicense({ expires_at: isoDate(Date.now() + 7 * 86_400_000) });
  await firstD1.exec('DELETE FROM expiry_pass');
  await accountsD1.exec('DELETE FROM expiry_pass');
  const passes = async () =>
    Promise.all([firstD1, accountsD1].map((d1) => d1.prepare('SELECT day FROM expiry_pass').first('day')));
  await startMove(ada.accountId, 'DB');
  await runMove(ada.accountId, 'copying');
  await runHourly();
  expect(await passes()).toEqual([null, null]);
  await runMove(ada.accountId);
  await runHourly();
  const [day] = await passes();
  expect(await passes()).toEqual([day, day]);

  await accountsD1.prepare('UPDATE expiry_pass SET day = ?').bind(isoDate(Date.now())).run();
  await startMove(ada.accountId, 'DB2');
  expect((await runMove(ada.accountId)).last_move.problem).toContain('expiring licenses');
  await runHourly();
  await startMove(ada.accountId, 'DB2');
  expect((await runMove(ada.accountId)).last_move.problem).toBeNull();
  const events = (await readEvents(ada.accountId)).filter(({ name }) => name === 'license.expiring');
  expect(events.length).toBeLessThanOrEqual(1);
});
