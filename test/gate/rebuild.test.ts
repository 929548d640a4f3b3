import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { COPY_VERSION } from '../../src/gate/home/copy-tables.ts';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { newId } from '../../src/shared/text/ids.ts';
import { machineOf } from '../support/activations.ts';
import { type Customer, signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { evict, gate, raiseEpoch, readGate, statistics, tamper, withoutTables } from '../support/gate.ts';
import { sellerOn, sellerWithLicense, sellerWithWebhook } from '../support/worlds.ts';

const LICENSES = 5_000;

/** Inserts licenses into D1 without feed rows, so that the gate doesn't pull them. */
const insertLicenses = async (accountId: string, keyOf: (i: number) => string) => {
  const insert = accountsD1.prepare(
    `INSERT INTO licenses (id, account_id, license_key, status, customer_email, metadata, created_at, updated_at)
     SELECT value ->> 'id', ?1, value ->> 'key', value ->> 'status', 'x@example.com', '{}', 0, 0 FROM json_each(?2)`,
  );
  for (let from = 0; from < LICENSES; from += 1_000) {
    const rows = Array.from({ length: 1_000 }, (_, i) => ({
      id: newId('lic'),
      key: keyOf(from + i),
      status: (from + i) % 5 === 0 ? 'suspended' : 'active',
    }));
    await insert.bind(accountId, JSON.stringify(rows)).run();
  }
};

const expectedStatus = (i: number) => (i % 5 === 0 ? 'suspended' : 'active');

const readProgress = async (accountId: string) => {
  const [row] = await readGate<{ value: string }>(
    accountId,
    "SELECT value FROM facts WHERE name = 'progress'",
  );
  return row ? (JSON.parse(row.value) as { complete: boolean; epoch: string }) : null;
};

const untilLoaded = async (accountId: string) => {
  await expect.poll(async () => (await readProgress(accountId))?.complete, { interval: 50 }).toBe(true);
};

/** Deletes the gate's storage and memory, as if its disk were lost. */
const wipeGate = async (accountId: string) => {
  await runInDurableObject(gate(accountId), (_instance, state) => state.storage.deleteAll());
  await evict(accountId);
};

const verifyMany = async (customer: Customer, keyOf: (i: number) => string, calls: number) => {
  for (let n = 0; n < calls; n++) {
    const i = (n * 7_919) % LICENSES;
    const { body } = await customer.verify(keyOf(i));
    expect([keyOf(i), body.status]).toEqual([keyOf(i), expectedStatus(i)]);
    if (n % 10 === 0) expect((await customer.verify(`UNKNOWN-${n}`)).body.status).toBe('not_found');
  }
};

test('an empty gate reloads 5,000 licenses from D1 and answers every verify correctly while it loads', async () => {
  const ada = await sellerOn('scale');
  const keyOf = (i: number) => `LOST-DISK-${i}`;
  await insertLicenses(ada.accountId, keyOf);
  await wipeGate(ada.accountId);

  // During the background load: verifies, a new license, a deleted API key and a revocation.
  const deletedKey = (await ada.asSession('POST', '/api/create-api-key', {})).body;
  const verifies = verifyMany(ada, keyOf, 100);
  const fresh = await ada.createLicense();
  expect((await ada.verify(fresh.license_key)).body.status).toBe('active');
  await ada.asSession('DELETE', `/api/api-keys/${deletedKey.id}`);
  expect((await ada.verify(fresh.license_key, deletedKey.api_key)).status).toBe(403);
  await ada.asSession('POST', `/api/v1/licenses/${fresh.id}/revoke`);
  await verifies;
  await untilLoaded(ada.accountId);

  expect((await ada.verify(fresh.license_key)).body.status).toBe('revoked');
  expect((await ada.verify(fresh.license_key, deletedKey.api_key)).status).toBe(403);
  await withoutTables(['licenses', 'api_keys', 'accounts'], () => verifyMany(ada, keyOf, 100));
});

test('a background load that read an API key before its deletion does not restore it', async () => {
  const ada = await signUp();
  const deletedKey = (await ada.asSession('POST', '/api/create-api-key', {})).body;
  const license = await ada.createLicense();
  await wipeGate(ada.accountId);
  // The deletion reaches the empty gate through the feed, before the background load.
  const deletion = ada.asSession('DELETE', `/api/api-keys/${deletedKey.id}`);
  const verifies = Promise.all(
    Array.from({ length: 10 }, () => ada.verify(license.license_key, deletedKey.api_key)),
  );
  await deletion;
  expect((await ada.verify(license.license_key, deletedKey.api_key)).status).toBe(403);
  await verifies;
  await untilLoaded(ada.accountId);
  expect((await ada.verify(license.license_key, deletedKey.api_key)).status).toBe(403);
});

test('a gate with an incomplete local copy answers 503 while D1 is down', async () => {
  const { ada, license } = await sellerWithLicense();
  await wipeGate(ada.accountId);
  await withoutTables(['accounts', 'licenses'], async () => {
    const refused = await ada.verify(license.license_key);
    expect(refused.status).toBe(503);
    expect(refused.body.error.code).toBe('unavailable');
  });
  expect((await ada.verify(license.license_key)).body.status).toBe('active');
});

/** Lets the time pass over which gates spread their reloads, and runs the reload by the gate's alarm. */
const reload = async (accountId: string) => {
  vi.advanceTimersByTime(HOUR_MS);
  expect(await runDurableObjectAlarm(gate(accountId))).toBe(true);
};

test('a gate with an old epoch answers from its copy until it has reloaded it, and keeps its counts', async () => {
  useFakeClock();
  const { ada, license } = await sellerWithLicense();
  const { id } = await ada.createLicense({ license_key: 'MADE-AFTER-THE-BACKUP' });
  expect((await ada.verify('MADE-AFTER-THE-BACKUP')).body).toMatchObject({ status: 'active', api_usage: 1 });
  await accountsD1.batch([
    accountsD1.prepare('DELETE FROM licenses WHERE id = ?').bind(id),
    accountsD1.prepare("UPDATE licenses SET status = 'suspended' WHERE id = ?").bind(license.id),
  ]);

  // Makes the gate's copy look older than the current epoch, which operators raise after a restore.
  await raiseEpoch(ada.accountId);
  await withoutTables(['accounts', 'licenses'], async () => {
    expect((await ada.verify('MADE-AFTER-THE-BACKUP')).body).toMatchObject({
      status: 'active',
      api_usage: 2,
    });
  });
  await reload(ada.accountId);
  // The gate keeps what D1 has lost: see orphans.test.ts.
  expect((await ada.verify('MADE-AFTER-THE-BACKUP')).body).toMatchObject({
    status: 'active',
    api_usage: 3,
  });
  expect((await ada.verify(license.license_key)).body).toMatchObject({ status: 'suspended', api_usage: 4 });
  expect(await readProgress(ada.accountId)).toMatchObject({ epoch: env.GATE_EPOCH, reload: null });
  expect((await statistics(ada.accountId)).apiUsage).toBe(4);
});

test('after a restore of D1, a gate loses no answered change and no event', async () => {
  useFakeClock();
  const { ada, receiver } = await sellerWithWebhook({ events: ['license.created'] });
  const kept = await ada.createLicense({ license_key: 'BEFORE-THE-BACKUP' });
  const { results: feedRows } = await accountsD1
    .prepare('SELECT * FROM feed WHERE account_id = ?')
    .bind(ada.accountId)
    .all<{ seq: number }>();
  const backupSeq = feedRows.at(-1)?.seq ?? 0;
  const lost = [await ada.createLicense({ license_key: 'AFTER-THE-BACKUP-1' }), await ada.createLicense()];

  // What a restore does: later rows are gone, and AUTOINCREMENT gives their numbers out again.
  await accountsD1.batch([
    accountsD1.prepare('DELETE FROM feed WHERE account_id = ?').bind(ada.accountId),
    accountsD1.prepare('DELETE FROM licenses WHERE id IN (?, ?)').bind(lost[0].id, lost[1].id),
    accountsD1.prepare("UPDATE sqlite_sequence SET seq = ? WHERE name = 'feed'").bind(backupSeq),
  ]);
  vi.advanceTimersByTime(60_000);

  const { id } = await ada.createLicense({ license_key: 'AFTER-THE-RESTORE' });
  expect((await ada.verify('AFTER-THE-RESTORE')).body.status).toBe('active');
  await ada.asSession('POST', `/api/v1/licenses/${kept.id}/suspend`);
  expect((await ada.verify('BEFORE-THE-BACKUP')).body.status).toBe('suspended');
  await ada.asSession('POST', `/api/v1/licenses/${id}/revoke`);
  expect((await ada.verify('AFTER-THE-RESTORE')).body.status).toBe('revoked');

  await reload(ada.accountId);
  expect((await ada.verify('AFTER-THE-BACKUP-1')).body.status).toBe('active');
  expect((await ada.verify('BEFORE-THE-BACKUP')).body.status).toBe('suspended');
  const keys = (await receiver.receives(4)).map(({ body }) => JSON.parse(body).license_key);
  expect(keys).toContain('AFTER-THE-RESTORE');
});

/** Makes the gate's copy look as if another release had made it. */
const ofAnotherRelease = (accountId: string, version: number, changes: string) =>
  tamper(
    accountId,
    `${changes}; UPDATE facts SET value = json_set(value, '$.version', ${version}) WHERE name = 'progress'`,
  );

test.for([
  ['an earlier', 2, 'ALTER TABLE licenses DROP COLUMN updates_until'],
  [
    'a later',
    99,
    'ALTER TABLE licenses ADD COLUMN later INTEGER; ALTER TABLE licenses RENAME COLUMN updates_until TO until',
  ],
] as const)(
  'a gate with the copy of %s release answers from it, also after a change, until it has loaded it again',
  async ([, version, changes]) => {
    useFakeClock();
    const { ada, license } = await sellerWithLicense({ updates_until: '2020-01-31' });
    const isTooNew = { code: 'updates_ended' };
    const verify = async () => {
      const sent = {
        license_key: license.license_key,
        fingerprint: machineOf(1),
        release_date: '2021-01-01',
      };
      return (await ada.asKey('POST', '/api/v1/licenses/verify', sent)).body;
    };
    expect(await verify()).toMatchObject(isTooNew);
    await ofAnotherRelease(ada.accountId, version, changes);
    await withoutTables(['accounts', 'api_keys', 'licenses', 'products', 'feed'], async () => {
      expect((await ada.verify(license.license_key)).body).toMatchObject({ status: 'active', api_usage: 2 });
      expect((await ada.verify('UNKNOWN')).body.status).toBe('not_found');
    });
    await ada.asSession('POST', `/api/v1/licenses/${license.id}/suspend`);
    expect((await ada.verify(license.license_key)).body.status).toBe('suspended');
    await ada.asSession('POST', `/api/v1/licenses/${license.id}/reinstate`);
    await reload(ada.accountId);
    expect(await verify()).toMatchObject(isTooNew);
    expect(await readProgress(ada.accountId)).toMatchObject({ version: COPY_VERSION, reload: null });
  },
);

test('a gate drops the copy of another release if it can’t keep its rows, loads it again, and keeps its counts', async () => {
  const { ada, license } = await sellerWithLicense();
  expect((await ada.verify(license.license_key)).body).toMatchObject({ valid: true, api_usage: 1 });
  await ofAnotherRelease(ada.accountId, 99, 'ALTER TABLE licenses RENAME COLUMN license_key TO code');
  expect((await ada.verify(license.license_key)).body).toMatchObject({ valid: true, api_usage: 2 });
});

test('a background load resumes after an eviction', async () => {
  const ada = await sellerOn('scale');
  const keyOf = (i: number) => `EVICTED-${i}`;
  await insertLicenses(ada.accountId, keyOf);
  await wipeGate(ada.accountId);
  await gate(ada.accountId).pull();
  expect(await readProgress(ada.accountId)).toMatchObject({ complete: false });
  await evict(ada.accountId);
  await untilLoaded(ada.accountId);
  const [{ n } = { n: 0 }] = await readGate<{ n: number }>(
    ada.accountId,
    'SELECT count(*) AS n FROM licenses',
  );
  expect(n).toBe(LICENSES);
});
