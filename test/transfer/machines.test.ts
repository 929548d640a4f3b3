import { describe, expect, test } from 'vitest';
import { openLicense } from '../support/activations.ts';
import { signUp } from '../support/client.ts';
import { importAs, toLines } from './transfer.ts';

describe('importing activations', () => {
  const activation = (n: number, fields = {}) => ({
    type: 'activation',
    license_key: 'KEY-000001',
    fingerprint: `machine-000${n}`,
    activated_at: '2024-01-01T00:00:00Z',
    ...fields,
  });

  test('takes no more seats than the license has', async () => {
    const { customer, on } = await openLicense({ max_activations: 2 }, { license_key: 'KEY-000001' });
    await on('activate', 1);
    const body = toLines([1, 2, 3].map((n) => activation(n)));
    const { answers } = await importAs(customer, body);
    expect(answers.map(({ result, error }) => error?.code ?? result)).toEqual([
      'unchanged',
      'created',
      'no_seat',
    ]);
    expect(await on('verify', 2)).toMatchObject({ code: 'valid', seats: { used: 2, limit: 2 } });
    expect((await on('activate', 3)).code).toBe('no_seat');
    const again = await importAs(customer, body);
    expect(again.totals).toMatchObject({ unchanged: 2, failed: 1 });
  });

  test('leaves an entry in the audit log, also if the lines have only machines', async () => {
    const { customer } = await openLicense({ max_activations: 2 }, { license_key: 'KEY-000001' });
    const entries = async () =>
      (await customer.asSession('GET', '/api/audit-log?action=license.import')).body.data.length;
    await importAs(customer, toLines([activation(1)]), '?dry_run=true');
    expect(await entries()).toBe(0);
    await importAs(customer, toLines([activation(1)]));
    expect(await entries()).toBe(1);
  });

  test('a released machine takes no seat, and one of an unknown license fails', async () => {
    const { customer, on } = await openLicense({ max_activations: 1 }, { license_key: 'KEY-000001' });
    const released = { released_at: new Date().toISOString() };
    const { answers } = await importAs(
      customer,
      toLines([
        activation(1, released),
        activation(2, { released_at: '2024-02-01T00:00:00Z' }),
        { ...activation(3), license_key: 'UNKNOWN-KEY' },
      ]),
    );
    expect(answers.map(({ result, error }) => error?.code ?? result)).toEqual([
      'created',
      'skipped',
      'license_not_found',
    ]);
    expect((await on('activate', 4)).code).toBe('valid');
  });
});

test('adds each webhook once, up to the limit of webhooks', async () => {
  const customer = await signUp();
  const webhook = (n: number) => ({ type: 'webhook', url: `https://hooks.example.com/${n}` });
  const body = toLines(Array.from({ length: 100 }, (_, i) => webhook(i % 25)));
  const totalsOf = async (query = '') => (await importAs(customer, body, query)).totals;
  expect(await totalsOf('?dry_run=true')).toMatchObject({ created: 20, unchanged: 60, failed: 20 });
  expect(await totalsOf()).toMatchObject({ created: 20, unchanged: 60, failed: 20 });
  expect(await totalsOf()).toMatchObject({ created: 0, unchanged: 80, failed: 20 });
});
