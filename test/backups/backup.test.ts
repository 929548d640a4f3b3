import { env } from 'cloudflare:workers';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { backUpNightly, continueBackup } from '../../src/backups/nightly.ts';
import { accountDatabases } from '../../src/db/client.ts';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { useOperator } from '../support/backup.ts';
import { outcomeOf, signUp } from '../support/client.ts';
import { cancelMove, runMove, startMove } from '../support/database-move.ts';
import { firstD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { asOperator, scrapeMetrics } from '../support/operator.ts';
import { testCopies } from './copies.ts';
import { testCutOffSteps } from './cut-off.ts';
import { testDisasters } from './disaster.ts';
import { testHalfRestored } from './half-restored.ts';
import { testMetered } from './metered.ts';
import { testRotation } from './rotation.ts';
import {
  backUp,
  beRestoring,
  emptyBucket,
  entriesOf,
  exchangeChunk,
  FINGERPRINT,
  loseChunk,
  loseService,
  openOldShop,
  openSeller,
  pictureOf,
  restore,
  saveOffer,
  skipPauses,
  verify,
} from './service.ts';

// One file, because a runtime with a bucket doesn't always end when it is reset.

useOperator();

beforeEach(() => onTestFinished(skipPauses()));

test('a service that is lost comes back from a backup as it was', async () => {
  const sellers = await Promise.all([openSeller(0), openSeller(1), openSeller(2)]);
  const before = [];
  for (const one of sellers) before.push(await pictureOf(one));
  const backup = await backUp();
  expect(backup).toMatchObject({ status: 'done', accounts: 3, missing_accounts: [] });

  expect(await entriesOf('service.backup')).toEqual([{ actor_kind: 'operator', target: null }]);

  await loseService();
  const { status, body } = await restore(backup.id);
  expect({ status, body }).toMatchObject({ status: 200, body: { done: true, accounts: 3, skipped_rows: 0 } });
  expect(await entriesOf('service.restore')).toEqual([{ actor_kind: 'operator', target: backup.id }]);

  for (const [i, one] of sellers.entries()) {
    const after = await pictureOf(one);
    const was = before[i];
    expect(after).toEqual({
      ...was,
      usage: was?.verifiedUsage,
      verifiedUsage: (was?.verifiedUsage ?? 0) + 1,
    });
    const found = await one.ada.asSession('GET', '/api/v1/licenses?q=kunde');
    expect(found.body.data).toHaveLength(3);
    const refused = await one.ada.asKey('POST', '/api/v1/licenses/verify', {
      license_key: one.licenses[1].license_key,
      fingerprint: FINGERPRINT,
    });
    expect(refused.body.code).toBe('suspended');
  }
});

test('an application that called before the service was restored gets its verdict once it is', async () => {
  const one = await openSeller(9);
  const before = await pictureOf(one);
  const { id } = await backUp();
  await loseService();
  expect((await verify(one.ada, one.licenseKey)).status).toBe(403);
  await restore(id);
  // The Worker remembers the refusal for as long.
  useFakeClock(Date.now() + 31_000);
  expect(await pictureOf(one)).toMatchObject({ licenses: before.licenses, valid: true, seat: before.seat });
});

test('a step of a restore that is made again changes nothing', async () => {
  const one = await openSeller(3);
  const backup = await backUp();
  await loseService();
  await asOperator('POST', `/operator/backups/${backup.id}/restore`);
  const before = await pictureOf(one);
  // The step was made, but nobody has written down that it was.
  await beRestoring(backup.id);
  const again = await restore(backup.id);
  expect(again.body).toMatchObject({ done: true, accounts: backup.accounts });
  const after = await pictureOf(one);
  expect(after.licenses).toEqual(before.licenses);
  expect([after.usage, after.seat]).toEqual([before.verifiedUsage, before.seat]);
});

test('a service that is lost while it is restored is restored from the beginning, from whichever backup', async () => {
  const one = await openSeller(10);
  const { id: older } = await backUp();
  const { id: newer, accounts } = await backUp();
  await loseService();
  await beRestoring(older, 1);
  const { status, body } = await restore(newer);
  expect({ status, body }).toMatchObject({ status: 200, body: { done: true, accounts } });
  expect((await pictureOf(one)).licenses).toHaveLength(3);
});

test('a restore that has ended says so again, and a service that has accounts is not restored into', async () => {
  await openSeller(11);
  const [older, newer] = [await backUp(), await backUp()];
  await loseService();
  const result = async () => [(await restore(older.id)).body, await entriesOf('service.restore')];
  expect(await result()).toEqual(await result());
  const { body: refused } = await restore(newer.id);
  expect(refused.error.message).toBe('The service has accounts. Restore into a new service.');
  // Another service with the same bucket.
  await loseService();
  await signUp();
  expect((await restore(older.id)).status).toBe(409);
});

test('an offer fulfills what was unmapped in a backup of the release before, which has no ids without an offer', async () => {
  const shop = await openOldShop();
  const { id } = await backUp();
  await loseService();
  expect((await restore(id)).body).toMatchObject({ done: true, skipped_rows: 0 });
  useFakeClock(Date.now() + 60_000);
  expect(await saveOffer(shop)).toMatchObject([{ status: 'fulfilled' }]);
});

test('an account that has moved to another database is there again after a restore', async () => {
  useFakeClock();
  const moved = await openSeller(0);
  const { accountId } = moved.ada;
  await startMove(accountId, 'DB');
  expect(await runMove(accountId)).toMatchObject({ database: 'DB', last_move: { problem: null } });
  const before = await pictureOf(moved);
  const backup = await backUp();
  await loseService();
  expect((await restore(backup.id)).body).toMatchObject({ done: true, skipped_rows: 0 });
  // The picture verifies the license, which counts.
  const { usage, verifiedUsage } = before;
  const counted = { usage: usage + 1, verifiedUsage: verifiedUsage + 1 };
  expect(await pictureOf(moved)).toEqual({ ...before, ...counted });
  const id = firstD1.prepare('SELECT id FROM accounts WHERE id = ?').bind(accountId);
  expect(await id.first('id')).toBe(accountId);
  // The old gate could have had branches, for which changes wait.
  vi.setSystemTime(Date.now() + 60_000);
  expect((await moved.ada.createLicense()).id).toBeTypeOf('string');
});

test('no account moves while a backup is made, and no backup is made while an account moves', async () => {
  useFakeClock();
  const { ada } = await openSeller(0);
  const begun = await asOperator('POST', '/operator/backups');
  expect(begun.body.status).toBe('running');
  expect(outcomeOf(await startMove(ada.accountId, 'DB'))).toBe('409 invalid_transition');
  await backUp();

  expect(outcomeOf(await startMove(ada.accountId, 'DB'))).toBe('202 ok');
  await runMove(ada.accountId, 'copying');
  expect(outcomeOf(await asOperator('POST', '/operator/backups'))).toBe('409 invalid_transition');
  await cancelMove(ada.accountId);
  await runMove(ada.accountId);
  expect(await backUp()).toMatchObject({ status: 'done', missing_accounts: [] });

  // A backup that begins just before the rows are closed.
  await startMove(ada.accountId, 'DB');
  await asOperator('POST', '/operator/backups');
  expect((await runMove(ada.accountId)).last_move.problem).toBe(
    'A backup of the service is being made or restored.',
  );
  expect(await backUp()).toMatchObject({ status: 'done' });
});

test('a backup whose chunk was changed or exchanged is not restored', async () => {
  await openSeller(4);
  const first = await backUp();
  const second = await backUp();
  await exchangeChunk(first.id, second.id);
  await loseService();
  const { status } = await restore(first.id);
  expect(status).toBe(409);
  expect((await env.DB.prepare('SELECT count(*) AS n FROM users').first())?.['n']).toBe(0);
});

test('a backup that can not be read back is not complete', async () => {
  await loseService();
  await openSeller(5);
  const { body } = await asOperator('POST', '/operator/backups');
  await loseChunk();
  const { body: ended } = await asOperator('POST', `/operator/backups/${body.id}/continue`);
  expect(ended.status).toBe('failed');
  expect((await asOperator('GET', `/operator/backups/${body.id}`)).status).toBe(404);
});

test('metrics tell how old the last complete backup is', async () => {
  await backUp();
  const [, age] = /^latchkey_backup_age_seconds (\S+)$/m.exec(await scrapeMetrics()) ?? [];
  expect(Number(age)).toBeGreaterThanOrEqual(0);
  expect(Number(age)).toBeLessThan(60);
});

test('the hourly work makes a backup a day, goes on with it by the queue, and deletes those of a month ago', async () => {
  const service = { env, db: accountDatabases(env)[0].db };
  await openSeller(7);
  await emptyBucket();
  await backUpNightly(service);
  await continueBackup(env);
  const made = await asOperator('GET', '/operator/backups');
  expect(made.body.data).toMatchObject([{ status: 'done' }]);
  await backUpNightly(service);
  expect((await asOperator('GET', '/operator/backups')).body.data).toHaveLength(1);

  useFakeClock(Date.now() + 31 * DAY_MS);
  await backUpNightly(service);
  await continueBackup(env);
  const left = (await asOperator('GET', '/operator/backups')).body.data;
  expect(left).toHaveLength(1);
  expect(left[0].id).not.toBe(made.body.data[0].id);
});

test('a backup that is not complete after two days makes room for another', async () => {
  const service = { env, db: accountDatabases(env)[0].db };
  const { body: stuck } = await asOperator('POST', '/operator/backups');
  useFakeClock(Date.now() + 3 * DAY_MS);
  await backUpNightly(service);
  await continueBackup(env);
  expect((await asOperator('GET', `/operator/backups/${stuck.id}`)).status).toBe(404);
  const { body } = await asOperator('GET', '/operator/backups');
  expect(body.data[0]).toMatchObject({ status: 'done' });
});

testCopies();
testCutOffSteps();
testDisasters();
testHalfRestored();
testMetered();
testRotation();
