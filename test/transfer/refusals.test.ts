import { afterEach, expect, test, vi } from 'vitest';
import { MAX_ENDPOINTS } from '../../src/shared/rules/webhooks.ts';
import { WebhookOutbox } from '../../src/webhooks/webhook-outbox.ts';
import { type Json, signUp } from '../support/client.ts';
import { recordStatements } from '../support/d1-queries.ts';
import { setCountedBytes } from '../support/storage.ts';
import { importAs, toLines } from './transfer.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

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

test('an import asks once whether the account has room for webhooks, however many it refuses', async () => {
  const customer = await signUp();
  await importAs(customer, toLines([webhook(0)]));
  await setCountedBytes(customer.accountId, 500_000_000);
  const calls = vi.spyOn(WebhookOutbox.prototype, 'listEndpoints');
  const importNew = async (count: number) => {
    calls.mockClear();
    const lines = [...Array.from({ length: count }, (_, i) => webhook(i + 1)), webhook(0)];
    const { result, statements } = await recordStatements(() => importAs(customer, toLines(lines)));
    expect(result.totals).toMatchObject({ failed: count, unchanged: 1 });
    expect(result.answers.at(-2).error.code).toBe('storage_limit_reached');
    return [statements.length, calls.mock.calls.length];
  };
  expect(await importNew(30)).toEqual(await importNew(1));
});

test('an import that finds no room for a webhook because others were added meanwhile asks no more', async () => {
  const customer = await signUp();
  await importAs(customer, toLines(Array.from({ length: MAX_ENDPOINTS }, (_, i) => webhook(i))));
  // As it was before the others were added.
  const calls = vi.spyOn(WebhookOutbox.prototype, 'listEndpoints').mockReturnValueOnce([]);
  const { answers } = await importAs(customer, toLines([webhook(30), webhook(31), webhook(32)]));
  expect(outcomesOf(answers)).toEqual(['limit_reached', 'limit_reached', 'limit_reached']);
  expect(calls).toHaveBeenCalledTimes(2);
});

test('an import whose session has ended meanwhile tries no further webhook', async () => {
  const customer = await signUp();
  const add: WebhookOutbox['addEndpoint'] = Reflect.get(WebhookOutbox.prototype, 'addEndpoint');
  const calls = vi.spyOn(WebhookOutbox.prototype, 'addEndpoint').mockImplementation(async function (
    this: WebhookOutbox,
    ...args
  ) {
    await customer.asSession('POST', '/api/logout');
    return add.apply(this, args);
  });
  const { answers } = await importAs(customer, toLines([webhook(1), webhook(2), webhook(3)]));
  expect(outcomesOf(answers)).toEqual(Array(3).fill('invalid_session'));
  expect(calls).toHaveBeenCalledOnce();
});

test('a webhook that is refused for its URL leaves room for those after it', async () => {
  const lines = [{ type: 'webhook', url: 'https://10.0.0.1/hook' }, webhook(1)];
  const { answers } = await importAs(await signUp(), toLines(lines));
  expect(outcomesOf(answers)).toEqual(['invalid_request', 'created']);
});
