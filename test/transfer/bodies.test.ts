import { describe, expect, test } from 'vitest';
import { signUp } from '../support/client.ts';
import { sellerOn } from '../support/worlds.ts';
import { CSV, importAs, toLines } from './transfer.ts';

describe('importing CSV', () => {
  test('reads columns of the metadata, quoted fields, and a byte order mark', async () => {
    const customer = await signUp();
    const body = `\uFEFFlicense_key,customer_name,expires_at,metadata.order,metadata.note\r\nKEY-000001,"Lovelace, ""Ada""",2020-02-29,7,"two\r\nlines"\r\n\r\nKEY-000002,,never,,\r\n`;
    const { answers } = await importAs(customer, body, '', CSV);
    expect(answers.map(({ line, result }) => [line, result])).toEqual([
      [2, 'created'],
      [5, 'created'],
    ]);
    const { body: ada } = await customer.asSession('GET', `/api/v1/licenses/${answers[0].id}`);
    expect(ada).toMatchObject({
      customer_name: 'Lovelace, "Ada"',
      expires_at: '2020-02-29',
      metadata: { order: '7', note: 'two\r\nlines' },
    });
  });

  test('rejects a file with an unknown column, and names the column', async () => {
    const body = 'license_key,licence,toString\nKEY-000001,x,y\n';
    const { status, answers } = await importAs(await signUp(), body, '', CSV);
    expect(status).toBe(400);
    expect(answers[0].error.details).toEqual(
      ['licence', 'toString'].map((path) => ({ path, message: 'is not a known column' })),
    );
  });

  test('skips empty rows, and reads a quote within a field and what a spreadsheet must not take for a formula', async () => {
    const customer = await signUp();
    const body = `license_key,customer_name\n,\n  \nKEY-000001,5" disk\nKEY-000002,'=1+1\nKEY-000003,"'tis"\n`;
    const { answers } = await importAs(customer, body, '', CSV);
    expect(answers.map(({ line, result }) => [line, result])).toEqual([
      [4, 'created'],
      [5, 'created'],
      [6, 'created'],
    ]);
    const { body: found } = await customer.asSession('GET', '/api/v1/licenses');
    const names = found.data.map((license: { customer_name: string }) => license.customer_name);
    expect(names).toEqual(["'tis", '=1+1', '5" disk']);
  });

  test('rejects a file that is not UTF-8', async () => {
    const bytes = new Uint8Array([
      ...new TextEncoder().encode('license_key,customer_name\nKEY-000001,M'),
      0xfc,
    ]);
    const { status, answers } = await importAs(await signUp(), bytes, '', CSV);
    expect([status, answers[0].error.message]).toEqual([400, 'The Body Must Be UTF-8']);
  });
});

describe('bodies', () => {
  test('rejects another content type', async () => {
    const { status } = await importAs(await signUp(), '{}', '', { 'content-type': 'application/json' });
    expect(status).toBe(415);
  });

  test('rejects a body of more than 5 MiB by its length', async () => {
    const { status, answers } = await importAs(await signUp(), ' '.repeat(5 * 1024 * 1024 + 1));
    expect([status, answers[0].error.code]).toEqual([413, 'body_too_large']);
  });

  test('imports the first 5 MiB of a body without a length, and fails the line that exceeds them', async () => {
    const customer = await sellerOn('scale');
    const filler = { type: 'end', counts: { x: 'x'.repeat(50_000) } };
    const text = toLines([
      { license_key: 'KEY-000001' },
      ...Array.from({ length: 105 }, () => filler),
      { license_key: 'KEY-000002' },
    ]);
    const body = new Blob([text]).stream().pipeThrough(new TransformStream());
    const { answers, totals } = await importAs(customer, body);
    expect(answers.at(-1)).toMatchObject({ line: 106, result: 'failed', error: { code: 'body_too_large' } });
    expect(totals).toMatchObject({ created: 1, skipped: 104, failed: 1 });
  });
});

test('stores every character of a text, and finds it unchanged when it is sent again', async () => {
  const customer = await signUp();
  const name = 'A\u0000B\u2028\u{1F511}"\\\n/';
  const fields = { customer_name: name, product: name, metadata: { note: name, [name]: 1 } };
  const body = toLines([{ license_key: 'KEY-000001', ...fields }]);
  const { answers } = await importAs(customer, body);
  const { body: created } = await customer.asSession('GET', `/api/v1/licenses/${answers[0].id}`);
  expect(created).toMatchObject(fields);
  expect((await importAs(customer, body)).answers[0].result).toBe('unchanged');
});
