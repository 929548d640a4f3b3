import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { expect, test, vi } from 'vitest';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import type { Customer } from '../support/client.ts';
import { doMeanwhile } from '../support/d1-queries.ts';
import { noteD1 } from '../support/d1-restore.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { evict, gate, readGate } from '../support/gate.ts';
import { waitUntil } from '../support/wait-until.ts';
import { sellerOn } from '../support/worlds.ts';

// D1 is restored to an earlier time, with the rows of the feed that it had then. The gate has followed them already, and what it
// knows since then is newer. It notices the restore with the next change.

const minuteLater = () => vi.advanceTimersByTime(60_000);

const statusOf = async (ada: Customer, licenseKey: string) =>
  (await ada.verify(licenseKey)).body.status as string;

/** Returns the license's status once the gate has noticed the restore, and once it has loaded its copy again. */
const statusesAfterNextChange = async (ada: Customer, licenseKey: string) => {
  minuteLater();
  const next = await ada.createLicense();
  const before = await statusOf(ada, licenseKey);
  for (let i = 0; i < 2; i++) {
    vi.advanceTimersByTime(HOUR_MS);
    await runDurableObjectAlarm(gate(ada.accountId));
  }
  expect(await statusOf(ada, next.license_key)).toBe('active');
  return [before, await statusOf(ada, licenseKey)];
};

test('a license key that was replaced stays so if the change before the restore was of its license', async () => {
  useFakeClock();
  const ada = await sellerOn('scale');
  const { id } = await ada.createLicense({ license_key: 'OLD-AND-LEAKED' });
  const restoreD1 = await noteD1(ada.accountId);
  minuteLater();
  await ada.asSession('POST', `/api/v1/licenses/${id}/rotate-key`, { license_key: 'NEW-AND-SECRET' });
  await restoreD1();
  expect(await statusesAfterNextChange(ada, 'OLD-AND-LEAKED')).toEqual(['not_found', 'not_found']);
  expect(await statusOf(ada, 'NEW-AND-SECRET')).toBe('active');
});

test('a license that was deleted stays so if the change before the restore was of it', async () => {
  useFakeClock();
  const ada = await sellerOn('scale');
  const { id } = await ada.createLicense({ license_key: 'DELETED-SINCE' });
  const restoreD1 = await noteD1(ada.accountId);
  minuteLater();
  await ada.asSession('DELETE', `/api/v1/licenses/${id}`);
  await restoreD1();
  expect(await statusesAfterNextChange(ada, 'DELETED-SINCE')).toEqual(['not_found', 'not_found']);
  // The seller changes it again, so they know of it.
  await ada.asSession('POST', `/api/v1/licenses/${id}/suspend`);
  expect(await statusOf(ada, 'DELETED-SINCE')).toBe('suspended');
});

test('a license that D1 has lost goes on working if its key was replaced in another one before the restore', async () => {
  useFakeClock();
  const ada = await sellerOn('scale');
  const { id } = await ada.createLicense({ license_key: 'USED-TWICE' });
  await ada.asSession('POST', `/api/v1/licenses/${id}/rotate-key`, { license_key: 'ANOTHER-ONE' });
  const restoreD1 = await noteD1(ada.accountId);
  minuteLater();
  await ada.createLicense({ license_key: 'USED-TWICE' });
  await restoreD1();
  expect(await statusesAfterNextChange(ada, 'USED-TWICE')).toEqual(['active', 'active']);
});

test('a second restore is noticed, too, also if nothing has changed since the first one', async () => {
  useFakeClock();
  const ada = await sellerOn('scale');
  const restoreEarlier = await noteD1(ada.accountId);
  minuteLater();
  const { id } = await ada.createLicense({ license_key: 'OLD-AND-LEAKED' });
  await ada.asSession('POST', `/api/v1/licenses/${id}/rotate-key`, { license_key: 'NEW-AND-SECRET' });
  const restoreLater = await noteD1(ada.accountId);
  minuteLater();
  await ada.createLicense({ license_key: 'BOUGHT-LAST' });
  await restoreLater();
  await gate(ada.accountId).pull();
  await restoreEarlier();
  expect(await statusesAfterNextChange(ada, 'OLD-AND-LEAKED')).toEqual(['not_found', 'not_found']);
  expect(await statusOf(ada, 'NEW-AND-SECRET')).toBe('active');
  const orphans = await gate(ada.accountId).orphans();
  expect(orphans.licenses).toMatchObject([
    { licenseKey: 'BOUGHT-LAST' },
    { id, licenseKey: 'NEW-AND-SECRET' },
  ]);
});

const progressOf = async (accountId: string): Promise<{ appliedSeq: number; knownUntil?: number }> => {
  const [row] = await readGate<{ value: string }>(
    accountId,
    "SELECT value FROM facts WHERE name = 'progress'",
  );
  return JSON.parse(row?.value ?? '{"appliedSeq":0}');
};

test('a new gate doesn’t take a read of the feed that a change has overtaken for one of a restored D1', async () => {
  const ada = await sellerOn('scale');
  const { accountId } = ada;
  const { id } = await ada.createLicense();
  await runInDurableObject(gate(accountId), (_gate, { storage }) => storage.deleteAll());
  await evict(accountId);
  let change: Promise<unknown> = Promise.resolve();
  const isOvertaken = doMeanwhile(/^select "seq" from "feed"/, async () => {
    change = ada.asSession('PATCH', `/api/v1/licenses/${id}`, { customer_email: 'other@example.com' });
    await waitUntil(async () => (await progressOf(accountId)).appliedSeq > 0);
  });
  await gate(accountId).pull();
  await change;
  expect(isOvertaken()).toBe(true);
  expect((await progressOf(accountId)).knownUntil).toBeUndefined();
});
