import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { AccountGate } from '../../src/gate/home/account-gate.ts';
import { workOnStores } from '../../src/stores/work.ts';
import { openShop, paid } from '../stores/shop.ts';
import type { Json } from '../support/client.ts';
import { recordStatements } from '../support/d1-queries.ts';
import { useFakeClock } from '../support/fake-clock.ts';

const REFUND = { id: 'told-twice', type: 'refunded', order: '1' };

/** A refund that is committed, and whose request has died before the gate has read it. */
const openRefunded = async () => {
  useFakeClock();
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid('1'));
  const [license] = (await shop.licenses()) as [Json];
  const verdict = async () => (await shop.ada.verify(license.license_key)).body.status;
  const apply = vi
    .spyOn(AccountGate.prototype, 'apply')
    .mockRejectedValue(new Error('The request has died.'));
  await shop.notify(REFUND);
  apply.mockRestore();
  expect((await shop.licenses())[0]?.status).toBe('revoked');
  expect(await verdict()).toBe('active');
  return { ...shop, verdict };
};

test('a notification that is sent again is answered once every verify sees what the first one has changed', async () => {
  const { notify, verdict } = await openRefunded();
  await notify(REFUND);
  expect(await verdict()).toBe('revoked');
});

test('a notification stays unread until every verify sees what it has changed', async () => {
  const { ada, notify, verdict } = await openRefunded();
  const pull = vi.spyOn(AccountGate.prototype, 'pull').mockRejectedValue(new Error('The gate is cut off.'));
  await notify(REFUND);
  pull.mockRestore();
  expect(await verdict()).toBe('active');
  // The email with the key waits for that.
  await workOnStores(env, ada.accountId);
  expect(await verdict()).toBe('revoked');
});

test('copies of a notification that come at once write nothing once one of them is taken', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  const sale = { id: 'sold-once', ...paid('1') };
  await shop.notify(sale);
  // As a copy finds the message that came at the same time, before it was marked as read.
  await env.DB2.prepare('UPDATE store_messages SET read_at = 1, asks = NULL').run();
  const { statements } = await recordStatements(() => shop.notify(sale));
  expect(
    statements.filter((statement) => /^(insert into|update) "(purchase|license)/.test(statement)),
  ).toEqual([]);
  expect(await shop.licenses()).toHaveLength(1);
});
