import { runDurableObjectAlarm } from 'cloudflare:test';
import { expect, onTestFinished, test } from 'vitest';
import { openLicense } from '../support/activations.ts';
import { gate, readGate, tamper } from '../support/gate.ts';
import { asOperator, withOperatorToken } from '../support/operator.ts';
import { importAs, toLines } from '../transfer/transfer.ts';

test('machines count in the account’s storage, and an import adds none beyond its limit', async () => {
  const { customer, license } = await openLicense({ max_activations: 1_000 }, { license_key: 'KEY-000001' });
  const { accountId } = customer;
  const storage = async () => (await customer.asSession('GET', '/api/dashboard')).body.storage;
  const machines = (from: number, count: number) =>
    toLines(
      Array.from({ length: count }, (_, i) => ({
        type: 'activation',
        license_key: 'KEY-000001',
        fingerprint: `${'f'.repeat(200)}-${from + i}`,
        name: 'x'.repeat(100),
        activated_at: new Date().toISOString(),
      })),
    );
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
