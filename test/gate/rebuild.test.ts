import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { expect, test } from 'vitest';
import { newId } from '../../src/shared/ids.ts';
import { type Customer, signUp } from '../support/client.ts';
import { evict, gate, readGate, setPlan, statistics, tamper, withoutTables } from '../support/gate.ts';

const LICENSES = 5_000;

/** Straight into D1, as a restored database would hold them: no gate has heard of these. */
const fillDatabase = async (accountId: string, keyOf: (i: number) => string) => {
  const insert = env.DB.prepare(
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

const expected = (i: number) => (i % 5 === 0 ? 'suspended' : 'active');

const progress = async (accountId: string) => {
  const [row] = await readGate<{ value: string }>(
    accountId,
    "SELECT value FROM facts WHERE name = 'progress'",
  );
  return row ? (JSON.parse(row.value) as { complete: boolean; epoch: string }) : null;
};

const untilComplete = async (accountId: string) => {
  await expect
    .poll(async () => (await progress(accountId))?.complete, { timeout: 20_000, interval: 50 })
    .toBe(true);
};

/** Empties the gate as a lost disk would. */
const wipe = async (accountId: string) => {
  await runInDurableObject(gate(accountId), (_instance, state) => state.storage.deleteAll());
  await evict(accountId);
};

const verifyAtRandom = async (customer: Customer, keyOf: (i: number) => string, calls: number) => {
  for (let n = 0; n < calls; n++) {
    const i = (n * 7_919) % LICENSES;
    const { body } = await customer.verify(keyOf(i));
    expect([keyOf(i), body.status]).toEqual([keyOf(i), expected(i)]);
    if (n % 10 === 0) expect((await customer.verify(`UNKNOWN-${n}`)).body.status).toBe('not_found');
  }
};

test('a gate emptied of everything is rebuilt from D1 with 5,000 licenses while verifies go on, none of them wrong', async () => {
  const ada = await signUp();
  await setPlan(ada.accountId, 'scale');
  const keyOf = (i: number) => `LOST-DISK-${i}`;
  await fillDatabase(ada.accountId, keyOf);
  await wipe(ada.accountId);

  // While it is being rebuilt: old licenses, new ones, a deleted key and a revocation.
  const other = (await ada.asSession('POST', '/api/create-api-key', {})).body;
  const verifies = verifyAtRandom(ada, keyOf, 100);
  const fresh = await ada.createLicense();
  expect((await ada.verify(fresh.license_key)).body.status).toBe('active');
  await ada.asSession('DELETE', `/api/api-keys/${other.id}`);
  expect((await ada.verify(fresh.license_key, other.api_key)).status).toBe(403);
  await ada.asSession('POST', `/api/v1/licenses/${fresh.id}/revoke`);
  await verifies;
  await untilComplete(ada.accountId);

  expect((await ada.verify(fresh.license_key)).body.status).toBe('revoked');
  expect((await ada.verify(fresh.license_key, other.api_key)).status).toBe(403);
  await withoutTables(['licenses', 'api_keys', 'accounts'], () => verifyAtRandom(ada, keyOf, 100));
});

test('a load that read a key before its deletion does not bring it back', async () => {
  const ada = await signUp();
  const doomed = (await ada.asSession('POST', '/api/create-api-key', {})).body;
  const license = await ada.createLicense();
  await wipe(ada.accountId);
  // The deletion reaches the empty gate first, by the feed; the load then meets a copy that knows better.
  const deletion = ada.asSession('DELETE', `/api/api-keys/${doomed.id}`);
  const verifies = Promise.all(
    Array.from({ length: 10 }, () => ada.verify(license.license_key, doomed.api_key)),
  );
  await deletion;
  expect((await ada.verify(license.license_key, doomed.api_key)).status).toBe(403);
  await verifies;
  await untilComplete(ada.accountId);
  expect((await ada.verify(license.license_key, doomed.api_key)).status).toBe(403);
});

test('while its copy is not complete and D1 is down a gate says so instead of guessing', async () => {
  const ada = await signUp();
  const license = await ada.createLicense();
  await wipe(ada.accountId);
  await withoutTables(['accounts', 'licenses'], async () => {
    const refused = await ada.verify(license.license_key);
    expect(refused.status).toBe(503);
    expect(refused.body.error.code).toBe('unavailable');
  });
  expect((await ada.verify(license.license_key)).body.status).toBe('active');
});

test('after D1 is restored and the epoch raised every gate copies anew and keeps its counts', async () => {
  const ada = await signUp();
  const license = await ada.createLicense();
  const { id } = await ada.createLicense({ license_key: 'MADE-AFTER-THE-BACKUP' });
  expect((await ada.verify('MADE-AFTER-THE-BACKUP')).body).toMatchObject({ status: 'active', api_usage: 1 });
  await env.DB.batch([
    env.DB.prepare('DELETE FROM licenses WHERE id = ?').bind(id),
    env.DB.prepare("UPDATE licenses SET status = 'suspended' WHERE id = ?").bind(license.id),
  ]);
  expect((await ada.verify('MADE-AFTER-THE-BACKUP')).body.status).toBe('active');

  // As if the gate had copied under an earlier epoch than the one that the operator has set now.
  await tamper(
    ada.accountId,
    `UPDATE facts SET value = json_set(value, '$.epoch', 'before') WHERE name = 'progress'`,
  );
  expect((await ada.verify('MADE-AFTER-THE-BACKUP')).body).toMatchObject({
    status: 'not_found',
    api_usage: 3,
  });
  expect((await ada.verify(license.license_key)).body).toMatchObject({ status: 'suspended', api_usage: 4 });
  await untilComplete(ada.accountId);
  expect(await progress(ada.accountId)).toMatchObject({ epoch: env.GATE_EPOCH });
  expect((await statistics(ada.accountId)).apiUsage).toBe(4);
});

test('a copy under way goes on where it was when the gate is evicted', async () => {
  const ada = await signUp();
  await setPlan(ada.accountId, 'scale');
  const keyOf = (i: number) => `EVICTED-${i}`;
  await fillDatabase(ada.accountId, keyOf);
  await wipe(ada.accountId);
  await gate(ada.accountId).pull();
  expect(await progress(ada.accountId)).toMatchObject({ complete: false });
  await evict(ada.accountId);
  await untilComplete(ada.accountId);
  const [{ n } = { n: 0 }] = await readGate<{ n: number }>(
    ada.accountId,
    'SELECT count(*) AS n FROM licenses',
  );
  expect(n).toBe(LICENSES);
});
