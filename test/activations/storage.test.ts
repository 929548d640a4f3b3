import { runDurableObjectAlarm } from 'cloudflare:test';
import { expect, onTestFinished, test, vi } from 'vitest';
import { HOUR_MS, isoTime } from '../../src/shared/rules/dates.ts';
import { MACHINES_SHARE, PLANS, UNVERIFIED_SHARE } from '../../src/shared/rules/plans.ts';
import { machineOf, openLicense } from '../support/activations.ts';
import { type Json, outcomeOf } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate, raiseEpoch, readGate, tamper } from '../support/gate.ts';
import { lastMailTo } from '../support/mails.ts';
import { asOperator, withOperatorToken } from '../support/operator.ts';
import { importAs, toLines } from '../transfer/transfer.ts';

const open = async () => {
  const opened = await openLicense({ max_activations: 1_000 }, { license_key: 'KEY-000001' });
  const storage = async () => (await opened.customer.asSession('GET', '/api/dashboard')).body.storage;
  return { ...opened, storage };
};

/** Lines of an import of machines with long fingerprints and names. */
const machines = (from: number, count: number) =>
  toLines(
    Array.from({ length: count }, (_, i) => ({
      type: 'activation',
      license_key: 'KEY-000001',
      fingerprint: `${'f'.repeat(200)}-${from + i}`,
      name: 'x'.repeat(100),
      activated_at: isoTime(Date.now()),
    })),
  );

/** Lets the machines take as much as they may, or a part of it. */
const fill = (accountId: string, part = 1) =>
  tamper(accountId, 'UPDATE machine_totals SET bytes = ?', PLANS.free.storageBytes / MACHINES_SHARE / part);

test('machines count in the account’s storage, and an import adds none beyond its limit', async () => {
  const { customer, license, storage } = await open();
  const { accountId } = customer;
  await importAs(customer, machines(0, 200));
  const before = await storage();
  await runDurableObjectAlarm(gate(accountId));
  const after = await storage();
  const [{ bytes } = {}] = await readGate<{ bytes: number }>(accountId, 'SELECT bytes FROM machine_totals');
  expect(bytes).toBeGreaterThan(200 * 500);
  expect(after.used - before.used).toBe(bytes);

  await tamper(accountId, 'UPDATE machine_totals SET bytes = ?', after.limit);
  await runDurableObjectAlarm(gate(accountId));
  const { answers } = await importAs(customer, machines(200, 1));
  expect(answers.map(({ error }) => error?.code)).toEqual(['storage_limit_reached']);
  expect(await readGate(accountId, 'SELECT count(*) AS n FROM activations')).toEqual([{ n: 200 }]);
  onTestFinished(withOperatorToken());
  const found = await asOperator('GET', `/operator/accounts?q=${accountId}`);
  expect(found.body.data[0].storage.used).toBeGreaterThan(after.limit);

  await tamper(accountId, 'UPDATE machine_totals SET bytes = ?', Number(bytes));
  await customer.asSession('DELETE', `/api/v1/licenses/${license.id}`);
  expect(await readGate(accountId, 'SELECT bytes FROM machine_totals')).toEqual([{ bytes: 0 }]);
});

test('the gate reports the machines again when D1 was restored', async () => {
  useFakeClock();
  const { customer, storage } = await open();
  const { accountId } = customer;
  await importAs(customer, machines(0, 200));
  await runDurableObjectAlarm(gate(accountId));
  const { used } = await storage();
  await accountsD1.exec(`UPDATE license_totals SET machine_bytes = 0 WHERE account_id = '${accountId}'`);
  expect((await storage()).used).toBeLessThan(used - 100_000);
  // As an operator tells the gates, and as they find out themselves.
  await raiseEpoch(accountId);
  await customer.verify('KEY-000001');
  vi.advanceTimersByTime(HOUR_MS);
  // The first alarm loads the copy again.
  await runDurableObjectAlarm(gate(accountId));
  await runDurableObjectAlarm(gate(accountId));
  expect((await storage()).used).toBe(used);
});

test('when the storage is full, only a call that would add a machine is refused', async () => {
  const { customer, license, on } = await openLicense({ max_activations: 1 });
  const path = `/api/v1/licenses/${license.id}`;
  await on('activate', 1);
  await fill(customer.accountId);
  const activate = async (n: number, sent: Json = {}) => {
    const { code, error } = await on('activate', n, sent);
    return code ?? error.code;
  };
  const file = async (n: number) =>
    outcomeOf(await customer.asSession('POST', `${path}/token`, { fingerprint: machineOf(n) }));

  expect(await activate(2)).toBe('no_seat');
  expect(await file(1)).toBe('200 ok');
  expect(await file(2)).toBe('409 no_seat');
  await customer.asSession('PATCH', path, { terms: { max_activations: 2 } });
  expect(await activate(2, { product: 'other' })).toBe('wrong_product');
  const { api_usage: before } = await on('verify', 1);
  expect(await activate(2)).toBe('storage_limit_reached');
  expect(await file(2)).toBe('403 storage_limit_reached');
  expect((await on('heartbeat', 1)).api_usage).toBe(before);
  await customer.asSession('POST', `${path}/suspend`);
  expect(await activate(2)).toBe('suspended');
  await customer.asSession('POST', `${path}/revoke`);
  expect(await activate(2)).toBe('revoked');
  expect(await readGate(customer.accountId, 'SELECT fingerprint FROM activations')).toHaveLength(1);
});

test('until its email address is verified, an account’s machines may take half of the tenth that it may store', async () => {
  const { customer, on } = await openLicense({ max_activations: 10 });
  await on('activate', 1);
  await fill(customer.accountId, UNVERIFIED_SHARE);
  expect((await on('activate', 2)).error?.code).toBe('storage_limit_reached');
  await customer.asSession('POST', '/api/resend-verification');
  const { text } = await lastMailTo(customer.email);
  const [, token] = /verify-email#token=(\S+)/.exec(text) ?? [];
  await customer.asSession('POST', '/api/verify-email', { token });
  expect((await on('activate', 2)).code).toBe('valid');
});

test('beyond half of the account’s storage, no license gets another machine, and all others go on', async () => {
  const { customer, on } = await openLicense({ max_activations: 10 }, { license_key: 'KEY-000001' });
  const { accountId } = customer;
  const history = async () =>
    readGate(accountId, 'SELECT action, fingerprint FROM seat_changes ORDER BY seq');
  for (const n of [1, 2]) await on('activate', n);
  await fill(accountId);

  const refused = await customer.asKey('POST', '/api/v1/licenses/activate', {
    license_key: 'KEY-000001',
    fingerprint: machineOf(3),
  });
  expect([refused.status, refused.body.error.code]).toEqual([403, 'storage_limit_reached']);
  expect(refused.headers.get('RateLimit')).not.toBeNull();
  const line = { type: 'activation', license_key: 'KEY-000001', activated_at: new Date().toISOString() };
  const lines = [1, 3].map((n) => ({ ...line, fingerprint: machineOf(n) }));
  const { answers } = await importAs(customer, toLines(lines));
  expect(answers.map(({ result, error }) => error?.code ?? result)).toEqual([
    'unchanged',
    'storage_limit_reached',
  ]);

  for (const call of ['verify', 'activate', 'heartbeat'])
    expect(await on(call, 1)).toMatchObject({ valid: true, seats: { used: 2, limit: 10 } });
  expect(await on('verify', 3)).toMatchObject({ code: 'not_activated' });
  expect(await on('deactivate', 2)).toMatchObject({ code: 'deactivated' });
  expect(await on('activate', 2)).toMatchObject({ code: 'valid' });
  // The latest changes have taken the places of the first ones.
  expect(await history()).toEqual([
    { action: 'released', fingerprint: machineOf(2) },
    { action: 'taken', fingerprint: machineOf(2) },
  ]);
});
