import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { backUpNightly, continueBackup } from '../../src/backups/nightly.ts';
import { accountDatabases } from '../../src/db/client.ts';
import { captureLogs } from '../http/security.ts';
import { asOperator } from '../support/operator.ts';
import { backUp, beRestoring, emptyBucket, loseService, openSeller, restore } from './service.ts';

/** Lets objects of the bucket be sealed with a key that SEALING_KEYS has no longer. */
const loseKeyOf = async (prefix: string) => {
  for (const { key } of (await env.BACKUPS.list({ prefix })).objects) {
    const found = (await env.BACKUPS.get(key)) as R2ObjectBody;
    await env.BACKUPS.put(key, await found.arrayBuffer(), { customMetadata: { sealing_key: 'gone' } });
  }
};

const list = async () => (await asOperator('GET', '/operator/backups')).body;

/** A service with a seller, whose bucket has nothing yet. */
const openService = async () => {
  await loseService();
  await emptyBucket();
  return openSeller(0);
};

/** Tests of what was sealed with a key that is gone. */
export const testRotation = () => {
  test('backups whose key is gone are listed as unreadable, and the others can be restored', async () => {
    const one = await openService();
    const [older, newer] = [await backUp(), await backUp()];
    await loseKeyOf(`summaries/${newer.id}`);
    const unreadable = {
      id: newer.id,
      status: 'unreadable',
      started_at: expect.stringMatching(/^20/),
      finished_at: null,
      databases: [],
      accounts: null,
      rows: null,
      chunks: null,
      bytes: null,
      missing_accounts: [],
    };
    expect((await list()).data).toEqual([unreadable, older]);
    expect((await asOperator('GET', `/operator/backups/${newer.id}`)).body).toEqual(unreadable);
    await loseService();
    const refused = await restore(newer.id);
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      'The backup can’t be read: its key is not in SEALING_KEYS, or it is damaged.',
    ]);
    expect((await restore(older.id)).body).toMatchObject({ done: true });
    expect((await one.ada.asSession('GET', '/api/v1/licenses')).body.data).toHaveLength(3);
  });

  test('a backup that runs, and whose key is gone, makes room for another', async () => {
    await openService();
    await asOperator('POST', '/operator/backups');
    await loseKeyOf('running');
    expect((await list()).data).toEqual([]);
    const log = captureLogs();
    await backUpNightly({ env, db: accountDatabases(env)[0].db });
    expect(log.stop()).toContain('backup_not_verified');
    await continueBackup(env);
    expect((await list()).data).toMatchObject([{ status: 'done', accounts: 1 }]);

    await asOperator('POST', '/operator/backups');
    await loseKeyOf('running');
    expect(await backUp()).toMatchObject({ status: 'done', accounts: 1 });
  });

  test('a service is restored although the key of the record of an earlier restore is gone', async () => {
    await openService();
    const { id } = await backUp();
    await beRestoring(id);
    await loseKeyOf('restoring');
    expect((await list()).restoring).toBe(null);
    expect((await asOperator('POST', `/operator/backups/${id}/restore`)).status).toBe(409);
    await loseService();
    expect((await restore(id)).body).toMatchObject({ done: true });
  });
};
