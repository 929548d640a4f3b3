import { runDurableObjectAlarm } from 'cloudflare:test';
import { beforeEach, expect, test, vi } from 'vitest';
import { ORPHAN_MS } from '../../src/gate/home/orphans.ts';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import type { Json } from '../support/client.ts';
import { noteD1 } from '../support/d1-restore.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate, raiseEpoch, tamper } from '../support/gate.ts';
import { findInD1, findLeftovers } from '../support/leftovers.ts';
import { asOperator, withOperatorToken } from '../support/operator.ts';
import { openBranch, setHome, verifyIn } from '../support/regions.ts';
import { sellerOn } from '../support/worlds.ts';

// D1 is restored to an earlier time, and the operator raises GATE_EPOCH, so that each gate loads its copy again.

beforeEach(() => {
  useFakeClock();
  return withOperatorToken();
});

const runAlarm = async (accountId: string) => {
  vi.advanceTimersByTime(HOUR_MS);
  await runDurableObjectAlarm(gate(accountId));
};

/** Lets the gate load its copy again. */
const reload = async (accountId: string) => {
  await raiseEpoch(accountId);
  // Starts it.
  await gate(accountId).movingTo();
  await runAlarm(accountId);
  await runAlarm(accountId);
};

/** A seller and what D1 loses: a product, a license with its terms, and an API key. `restore` restores D1 and the gate. */
const sellerWithLosses = async () => {
  const ada = await sellerOn('scale');
  const before = await ada.createLicense({ license_key: 'BOUGHT-BEFORE' });
  const oldKey: Json = (await ada.asSession('POST', '/api/create-api-key', {})).body;
  const restoreD1 = await noteD1(ada.accountId);
  await ada.asSession('PUT', '/api/v1/products/mill', {
    terms: { max_activations: 1, entitlements: { pro: true } },
  });
  const lost = await ada.createLicense({ license_key: 'BOUGHT-SINCE', product: 'mill' });
  const key: Json = (await ada.asSession('POST', '/api/create-api-key', {})).body;
  const restore = async () => {
    await restoreD1();
    await reload(ada.accountId);
  };
  return { ada, before, oldKey, lost, key, restore };
};

type Seller = Awaited<ReturnType<typeof sellerWithLosses>>['ada'];
const statusOf = async (ada: Seller, licenseKey: string, apiKey?: string) => {
  const { status, body } = await ada.verify(licenseKey, apiKey);
  return status === 200 ? body.status : status;
};
const orphansOf = ({ accountId }: Seller, method = 'GET') =>
  asOperator(method, `/operator/accounts/${accountId}/orphans`);

test('a license, a product, and an API key that a restored D1 has lost go on working', async () => {
  const { ada, lost, key, restore } = await sellerWithLosses();
  const activate = () =>
    ada.asKey('POST', '/api/v1/licenses/activate', { license_key: 'BOUGHT-SINCE', fingerprint: 'machine-1' });
  const { body: activated } = await activate();
  await restore();
  expect(await findInD1(accountsD1, ['BOUGHT-SINCE', lost.id])).not.toContain('licenses');
  const { body } = await activate();
  expect(body).toMatchObject({ code: 'valid', license_id: lost.id, entitlements: { pro: true } });
  expect(body.activation.id).toBe(activated.activation.id);
  expect(await statusOf(ada, 'BOUGHT-SINCE', key.api_key)).toBe('active');
  expect(await statusOf(ada, 'NEVER-BOUGHT')).toBe('not_found');
  const { status, body: orphans } = await orphansOf(ada);
  expect([status, orphans]).toMatchObject([
    200,
    {
      licenses: [{ id: lost.id, license_key: 'BOUGHT-SINCE', customer_email: ada.email, status: 'active' }],
      api_key_ids: [key.id],
      products: ['mill'],
      total: 3,
    },
  ]);
});

test('what was revoked or deleted since then stays so, although D1 has it again', async () => {
  const { ada, before, oldKey, lost, restore } = await sellerWithLosses();
  const deleted = await ada.createLicense({ license_key: 'DELETED-SINCE' });
  const rotated = await ada.createLicense({ license_key: 'OLD-AND-LEAKED' });
  const restoreLater = await noteD1(ada.accountId);
  await ada.asSession('POST', `/api/v1/licenses/${before.id}/revoke`);
  await ada.asSession('DELETE', `/api/v1/licenses/${deleted.id}`);
  await ada.asSession('POST', `/api/v1/licenses/${rotated.id}/rotate-key`, { license_key: 'NEW-AND-SECRET' });
  await ada.asSession('DELETE', `/api/api-keys/${oldKey.id}`);
  await ada.asSession('POST', `/api/v1/licenses/${lost.id}/suspend`);
  await restoreLater();
  await reload(ada.accountId);
  expect(await statusOf(ada, 'BOUGHT-BEFORE')).toBe('revoked');
  expect(await statusOf(ada, 'DELETED-SINCE')).toBe('not_found');
  expect(await statusOf(ada, 'OLD-AND-LEAKED')).toBe('not_found');
  expect(await statusOf(ada, 'NEW-AND-SECRET')).toBe('active');
  expect(await statusOf(ada, 'BOUGHT-BEFORE', oldKey.api_key)).toBe(403);
  await restore();
  expect(await statusOf(ada, 'BOUGHT-SINCE')).toBe('active');
  expect(await statusOf(ada, 'BOUGHT-BEFORE')).toBe('revoked');
});

test('a gate that notices the restore by itself keeps what D1 has lost, too', async () => {
  const { ada } = await sellerWithLosses();
  const restoreD1 = await noteD1(ada.accountId);
  await ada.createLicense({ license_key: 'BOUGHT-LAST' });
  await restoreD1();
  vi.advanceTimersByTime(60_000);
  await ada.createLicense({ license_key: 'BOUGHT-AFTERWARDS' });
  await runAlarm(ada.accountId);
  await runAlarm(ada.accountId);
  expect((await orphansOf(ada)).body).toMatchObject({ licenses: [{ license_key: 'BOUGHT-LAST' }], total: 1 });
  expect(await statusOf(ada, 'BOUGHT-LAST')).toBe('active');
  expect(await statusOf(ada, 'BOUGHT-AFTERWARDS')).toBe('active');
});

test('after 14 days, a license that D1 still lacks is not found, and one that it has again stays', async () => {
  const { ada, lost, key, restore } = await sellerWithLosses();
  const restoreNewer = await noteD1(ada.accountId);
  await ada.createLicense({ license_key: 'BOUGHT-LAST' });
  await restore();
  expect((await orphansOf(ada)).body.total).toBe(4);
  // Somebody has put rows back into D1 that no gate was told of.
  await restoreNewer();
  vi.advanceTimersByTime(ORPHAN_MS - DAY_MS);
  expect(await statusOf(ada, 'BOUGHT-LAST')).toBe('active');
  vi.advanceTimersByTime(DAY_MS);
  await runAlarm(ada.accountId);
  await runAlarm(ada.accountId);
  expect(await statusOf(ada, 'BOUGHT-LAST')).toBe('not_found');
  expect(await statusOf(ada, 'BOUGHT-SINCE', key.api_key)).toBe('active');
  expect(lost.license_key).toBe('BOUGHT-SINCE');
  expect((await orphansOf(ada)).body.total).toBe(0);
});

test('a license that the seller makes again with the same key is no orphan any more', async () => {
  const { ada, restore } = await sellerWithLosses();
  await restore();
  const again = await ada.createLicense({ license_key: 'BOUGHT-SINCE' });
  const { body } = await orphansOf(ada);
  expect(body).toMatchObject({ licenses: [], total: 2 });
  await ada.asSession('POST', `/api/v1/licenses/${again.id}/suspend`);
  expect(await statusOf(ada, 'BOUGHT-SINCE')).toBe('suspended');
});

test('an operator who says that D1 is right ends orphans and what was revoked since, and a stranger can’t', async () => {
  const { ada, before, restore } = await sellerWithLosses();
  await ada.asSession('POST', `/api/v1/licenses/${before.id}/revoke`);
  await restore();
  const path = `/operator/accounts/${ada.accountId}/orphans`;
  expect((await ada.asSession('DELETE', path)).status).toBe(401);
  expect((await orphansOf(ada, 'DELETE')).body.total).toBe(3);
  await runAlarm(ada.accountId);
  await runAlarm(ada.accountId);
  expect(await statusOf(ada, 'BOUGHT-SINCE')).toBe('not_found');
  expect(await statusOf(ada, 'BOUGHT-BEFORE')).toBe('active');
  expect((await orphansOf(ada)).body.total).toBe(0);
});

test('a customer who is erased is in no license that D1 has lost, and their license goes on working', async () => {
  const { ada, restore } = await sellerWithLosses();
  const ann = 'ann@lost.example';
  const terms = { entitlements: { for: 'Ask Ann@Lost.example' } };
  await ada.createLicense({ license_key: 'BOUGHT-BY-ANN', customer_email: ann, terms });
  await restore();
  expect(await statusOf(ada, 'BOUGHT-BY-ANN')).toBe('active');
  expect(await findLeftovers(ada.accountId, [ann])).toContain('gate 1: licenses');
  const erased = await ada.asSession('POST', '/api/erase-customer', { customer_email: ann });
  expect(erased.status).toBe(200);
  expect(await findLeftovers(ada.accountId, [ann])).toEqual([]);
  expect(await statusOf(ada, 'BOUGHT-BY-ANN')).toBe('active');
});

test('a branch answers for a license that D1 has lost as home does', async () => {
  const { ada, restore } = await sellerWithLosses();
  await setHome(ada.accountId, 'enam');
  await ada.createLicense({ license_key: 'BOUGHT-LAST' });
  await restore();
  await openBranch('oc', ada, 'BOUGHT-LAST');
  await verifyIn('oc', ada, 'BOUGHT-LAST');
  expect(await verifyIn('oc', ada, 'BOUGHT-LAST')).toMatchObject({
    region: 'oc',
    verdict: { valid: true },
  });
});

test('a load of more licenses than are compared at once keeps each that D1 has lost', async () => {
  const { ada, restore } = await sellerWithLosses();
  await tamper(
    ada.accountId,
    `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 25000)
     INSERT INTO licenses (license_key, id, status, customer_email, terms)
     SELECT printf('LOST-%06d', n), printf('lic_%020d', n), 'active', 'x@example.com', '{}' FROM numbers`,
  );
  await restore();
  for (let i = 0; i < 4; i++) await runAlarm(ada.accountId);
  for (const n of ['000001', '010000', '010001', '025000'])
    expect(await statusOf(ada, `LOST-${n}`)).toBe('active');
  expect((await orphansOf(ada)).body.total).toBe(25_003);
});
