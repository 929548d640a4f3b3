import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { backUpNightly, continueBackup } from '../../src/backups/nightly.ts';
import { accountDatabases } from '../../src/db/client.ts';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { outcomeOf } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { asOperator } from '../support/operator.ts';
import { backUp, beRestoring, emptyBucket, loseService, openSeller, restore } from './service.ts';

const list = async () => (await asOperator('GET', '/operator/backups')).body;
const hourlyWork = () => backUpNightly({ env, db: accountDatabases(env)[0].db });
const hasRecord = async () => (await env.BACKUPS.head('running')) !== null;

/** Begins a backup that stops after its first step. */
const beginBackup = async () => (await asOperator('POST', '/operator/backups')).body;

/** Loses a service while it is restored, and opens another one with its bucket. Returns the backup. */
const loseDuringRestore = async () => {
  await openSeller(0);
  const backup = await backUp();
  await beRestoring(backup.id);
  await loseService();
  await openSeller(1);
  return backup;
};

/** Tests of a new service that has the bucket of one that was lost. */
export const testDisasters = () => {
  test('the hourly work backs up no service without accounts', async () => {
    await loseService();
    await emptyBucket();
    await hourlyWork();
    expect([await hasRecord(), (await list()).data]).toEqual([false, []]);
    await openSeller(0);
    await hourlyWork();
    expect((await list()).data).toMatchObject([{ status: 'running' }]);
    await backUp();
  });

  test('no service goes on with a backup that was begun by one that was lost', async () => {
    await emptyBucket();
    const { ada } = await openSeller(0);
    const done = await backUp();
    const begun = await beginBackup();
    await loseService();
    expect((await list()).data).toMatchObject([{ id: done.id }]);
    await continueBackup(env);
    expect(outcomeOf(await asOperator('POST', `/operator/backups/${begun.id}/continue`))).toMatch('404');
    await hourlyWork();
    expect([await hasRecord(), (await list()).data]).toMatchObject([false, [{ id: done.id }]]);
    expect((await restore(done.id)).body).toMatchObject({ done: true });
    expect((await ada.asSession('GET', '/api/v1/licenses')).body.data).toHaveLength(3);
  });

  test('a backup by hand takes the place of one that was begun by a service that was lost', async () => {
    await openSeller(0);
    const begun = await beginBackup();
    await loseService();
    await openSeller(1);
    const own = await backUp();
    expect(own).toMatchObject({ status: 'done', accounts: 1 });
    expect(own.id).not.toBe(begun.id);
  });

  test('while a service is restored, no backup of it is begun or goes on, and the list says which one comes in', async () => {
    await openSeller(0);
    const { id } = await backUp();
    await loseService();
    expect((await list()).restoring).toBe(null);
    const begun = await beginBackup();
    await beRestoring(id);
    expect((await list()).restoring).toBe(id);
    expect(await restore(id)).toMatchObject({ body: { done: true } });
    expect((await list()).restoring).toBe(null);
    expect((await asOperator('GET', `/operator/backups/${begun.id}`)).status).toBe(404);
    await beRestoring(id);
    expect(outcomeOf(await asOperator('POST', '/operator/backups'))).toBe('409 invalid_transition');
    expect(await hasRecord()).toBe(false);
    await restore(id);
  });

  test('a restore that a lost service had begun is none of the service that has its bucket', async () => {
    const { id } = await loseDuringRestore();
    expect((await list()).restoring).toBe(null);
    expect((await restore(id)).body.error.message).toBe(
      'The service has accounts. Restore into a new service.',
    );
    expect(await backUp()).toMatchObject({ status: 'done', accounts: 1 });
    await emptyBucket();
  });

  test('a service makes no backup by itself while another one is restored from its bucket', async () => {
    const { id } = await loseDuringRestore();
    useFakeClock(Date.now() + 23.8 * HOUR_MS);
    await hourlyWork();
    expect((await list()).data).toMatchObject([{ id }]);
    await emptyBucket();
  });
};
