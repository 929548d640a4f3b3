import { describe, expect, test } from 'vitest';
import { signUp } from '../support/client.ts';
import { sellerOn } from '../support/worlds.ts';
import { CSV, importAs, toLines } from './transfer.ts';

const MIB = 1024 * 1024;

describe('an import of a hostile body', () => {
  test('rejects a header of 5 MiB of commas with one short error', async () => {
    const { status, answers } = await importAs(await signUp(), ','.repeat(5 * MIB), '', CSV);
    expect([status, answers[0].error.code, answers[0].error.details]).toEqual([
      400,
      'invalid_request',
      [{ path: 'header', message: expect.stringContaining('more than 65536 characters') }],
    ]);
  });

  test('rejects a header of more than 200 columns', async () => {
    const header = ['license_key', ...Array.from({ length: 200 }, (_, i) => `metadata.${i}`)].join(',');
    const { status, answers } = await importAs(await signUp(), `${header}\nKEY-000001\n`, '', CSV);
    expect([status, answers[0].error.details]).toEqual([
      400,
      [{ path: 'header', message: 'The line has more than 200 columns.' }],
    ]);
  });

  test('reads 20,000 of 2.6 million lines, and reports them in less than the body’s size', async () => {
    const body = '1\n'.repeat(2.5 * MIB);
    const { answers, totals, next_cursor } = await importAs(await sellerOn('scale'), body, '?dry_run=true');
    expect([answers.length, totals.failed, next_cursor]).toEqual([20_001, 20_001, '20000']);
    expect(answers.at(-1)).toMatchObject({ line: 20_001, error: { code: 'too_many_lines' } });
    expect(answers.filter(({ error }) => error.details)).toHaveLength(1_000);
    expect(JSON.stringify(answers).length).toBeLessThan(body.length);
  });

  test('fails a line of more than 65,536 characters alone', async () => {
    const fields = Array.from({ length: 20_000 }, (_, i) => `"f${i}":1`).join();
    const body = `{"license_key":"KEY-000001"}\n{${fields}}\n{"license_key":"KEY-000002"}\n`;
    const { answers } = await importAs(await signUp(), body);
    expect(answers.map(({ result, error }) => error?.code ?? result)).toEqual([
      'created',
      'line_too_long',
      'created',
    ]);
  });

  test('reads a quoted field of 5 MiB of quotes', async () => {
    const body = `license_key\n"${'""'.repeat(2.4 * MIB)}"\nKEY-000001\n`;
    const { answers } = await importAs(await signUp(), body, '', CSV);
    expect(answers.map(({ result, error }) => error?.code ?? result)).toEqual(['line_too_long', 'created']);
  });
});

test('an import continues after its bound with the cursor, and numbers equal lines as one request would', async () => {
  const customer = await sellerOn('scale');
  const line = { customer_email: 'ada@example.com' };
  const skipped = { type: 'usage_day' };
  const body = toLines([line, ...Array.from({ length: 19_999 }, () => skipped), line, line]);
  const first = await importAs(customer, body);
  expect([first.totals.created, first.totals.skipped, first.next_cursor]).toEqual([1, 19_999, '20000']);
  const second = await importAs(customer, body, `?cursor=${first.next_cursor}`);
  expect(second.answers.map(({ line: number, result }) => [number, result])).toEqual([
    [20_001, 'created'],
    [20_002, 'created'],
  ]);
  expect([second.totals.lines, second.next_cursor]).toEqual([2, null]);
  const refused = await importAs(customer, body, '?cursor=0');
  expect([refused.status, refused.answers[0].error.details[0].path]).toEqual([400, 'cursor']);
});

test('a dry run of large licenses stops before it remembers too much of them, and continues', async () => {
  const customer = await sellerOn('scale');
  const key = (i: number) => `KEY-${String(i).padStart(6, '0')}`;
  const all = Array.from({ length: 1_100 }, (_, i) => ({ license_key: key(i) }));
  const metadata = { note: 'x'.repeat(3_900) };
  await importAs(customer, toLines(all.slice(0, 600).map((line) => ({ ...line, metadata }))));
  await importAs(customer, toLines(all.slice(600).map((line) => ({ ...line, metadata }))));
  const changes = toLines(all.map((line) => ({ ...line, status: 'suspended' })));
  const first = await importAs(customer, changes, '?dry_run=true&on_conflict=update');
  expect([first.totals.updated, first.next_cursor]).toEqual([1_000, '1000']);
  const rest = await importAs(customer, changes, '?dry_run=true&on_conflict=update&cursor=1000');
  expect([rest.totals.updated, rest.next_cursor]).toEqual([100, null]);
});
