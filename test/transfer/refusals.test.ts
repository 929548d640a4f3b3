import { expect, test } from 'vitest';
import { type Json, signUp } from '../support/client.ts';
import { setCountedBytes } from '../support/storage.ts';
import { importAs, toLines } from './transfer.ts';

const webhook = (n: number) => ({ type: 'webhook', url: `https://hooks.example.com/${n}` });
const machine = {
  type: 'activation',
  license_key: 'KEY-000001',
  fingerprint: 'machine-0001',
  activated_at: '2024-01-01T00:00:00Z',
};

const outcomesOf = (answers: Json[]) => answers.map(({ result, error }) => error?.code ?? result);

test('in an account that is full, every line that would store something fails, and the import goes on', async () => {
  const customer = await signUp();
  const known = { license_key: 'KEY-000001' };
  await importAs(customer, toLines([known]));
  await setCountedBytes(customer.accountId, 500_000_000);
  const lines = [machine, webhook(1), { license_key: 'KEY-000002' }, webhook(2), known];
  const { answers, totals } = await importAs(customer, toLines(lines));
  expect(outcomesOf(answers)).toEqual([
    'storage_limit_reached',
    'storage_limit_reached',
    'storage_limit_reached',
    'storage_limit_reached',
    'unchanged',
  ]);
  expect(answers[0].error.message).toContain('stores as much as it may');
  expect(totals).toMatchObject({ lines: 5, failed: 4, unchanged: 1 });
  await setCountedBytes(customer.accountId, 0);
  expect((await importAs(customer, toLines(lines))).totals).toMatchObject({ created: 4, unchanged: 1 });
});

test('a webhook beyond the 20 of an account fails with limit_reached, in a dry run too', async () => {
  const customer = await signUp();
  const lines = toLines(Array.from({ length: 21 }, (_, i) => webhook(i)));
  for (const query of ['?dry_run=true', '', '']) {
    const { answers } = await importAs(customer, lines, query);
    expect(answers.at(-1)).toMatchObject({ line: 21, result: 'failed', error: { code: 'limit_reached' } });
  }
});
