import { describe, expect, test } from 'vitest';
import { signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { statistics } from '../support/gate.ts';
import { CSV, importAs, importBeside, toLines } from './transfer.ts';

const verify = (customer: Awaited<ReturnType<typeof signUp>>, licenseKey: string) =>
  customer.asKey('POST', '/api/v1/licenses/verify', { license_key: licenseKey });

describe('importing lines of JSON', () => {
  test('creates licenses that verify at once, with past dates and their status, and counts no call', async () => {
    const customer = await signUp();
    const { answers, totals } = await importAs(
      customer,
      toLines([
        { license_key: 'KEY-ACTIVE', customer_email: 'Ada@Example.com', created_at: '2019-05-01' },
        { license_key: 'KEY-EXPIRED', status: 'expired', expires_at: '2020-01-31' },
        { license_key: 'KEY-REVOKED', status: 'revoked', metadata: { order: 7 } },
        { license_key: 'KEY-DAYS', created_at: '2020-01-01T10:00:00Z', duration_days: 30 },
      ]),
    );
    expect(totals).toEqual({ lines: 4, created: 4, updated: 0, unchanged: 0, skipped: 0, failed: 0 });
    expect(answers[0]).toEqual({ line: 1, result: 'created', id: expect.stringMatching(/^lic_/) });
    expect((await statistics(customer.accountId)).apiUsage).toBe(0);
    const statuses = ['ACTIVE', 'EXPIRED', 'REVOKED', 'DAYS'].map(
      async (name) => (await verify(customer, `KEY-${name}`)).body.status,
    );
    expect(await Promise.all(statuses)).toEqual(['active', 'expired', 'revoked', 'expired']);
    const { body } = await customer.asSession('GET', `/api/v1/licenses/${answers[0].id}`);
    expect(body).toMatchObject({
      customer_email: 'ada@example.com',
      created_at: '2019-05-01T00:00:00.000Z',
      expires_at: null,
    });
    const days = await customer.asSession('GET', `/api/v1/licenses/${answers[3].id}`);
    expect(days.body.expires_at).toBe('2020-01-31');
    expect((await customer.asSession('GET', '/api/v1/licenses?q=KEY-REV')).body.data).toHaveLength(1);
  });

  test('answers each line, and a bad line fails alone', async () => {
    const customer = await signUp();
    const body = `{"license_key":"GOOD-KEY-1"}\n\nnot json\n{"license_key":"short"}\n{"licence":1}\n{"type":"toString"}\n[1]\n{"license_key":"GOOD-KEY-2"}`;
    const { answers, totals } = await importAs(customer, body);
    expect(answers.map(({ line, result, error }) => [line, result, error?.code])).toEqual([
      [1, 'created', undefined],
      [3, 'failed', 'invalid_line'],
      [4, 'failed', 'invalid_request'],
      [5, 'failed', 'invalid_request'],
      [6, 'failed', 'invalid_request'],
      [7, 'failed', 'invalid_request'],
      [8, 'created', undefined],
    ]);
    expect(answers[2].error.details[0].path).toBe('license_key');
    expect(totals).toMatchObject({ created: 2, failed: 5 });
  });

  test('takes the rows of a file of failed lines, whose column `error` says why they failed', async () => {
    const customer = await signUp();
    const csv =
      '\uFEFFlicense_key,customer_email,error\nGOOD-KEY-1,ada@example.com,No.\n,ada@example.com,No.\n';
    const { answers } = await importAs(customer, csv, '', CSV);
    expect(answers.map(({ result }) => result)).toEqual(['created', 'created']);
    // The reason is no part of the line, so that a line without a key has the same key without it.
    const again = await importAs(customer, '{"customer_email":"ada@example.com"}\n');
    expect(again.answers).toMatchObject([{ result: 'unchanged', id: answers[1].id }]);
  });

  test('handles an existing license as on_conflict says, and keeps absent fields in an update', async () => {
    const customer = await signUp();
    const license = { license_key: 'KEY-000001', customer_name: 'Ada', metadata: { a: 1, b: 2 } };
    await importAs(customer, toLines([license]));
    const changed = { license_key: 'KEY-000001', customer_name: 'Grace' };
    const send = async (query: string, line: object) => {
      const { answers } = await importAs(customer, toLines([line]), query);
      return answers[0].error?.code ?? answers[0].result;
    };
    expect(await send('', { ...license, metadata: { b: 2, a: 1 } })).toBe('unchanged');
    expect(await send('', changed)).toBe('license_key_taken');
    expect(await send('?on_conflict=skip', changed)).toBe('skipped');
    expect(await send('?on_conflict=update&dry_run=true', changed)).toBe('updated');
    expect(await send('?on_conflict=update', changed)).toBe('updated');
    expect(await send('?on_conflict=update', { license_key: 'KEY-000001', status: 'revoked' })).toBe(
      'updated',
    );
    expect(await send('?on_conflict=update', { license_key: 'KEY-000001', status: 'active' })).toBe(
      'invalid_transition',
    );
    const { body } = await customer.asSession('GET', '/api/v1/licenses?q=KEY-000001');
    expect(body.data[0]).toMatchObject({
      customer_name: 'Grace',
      metadata: { a: 1, b: 2 },
      status: 'revoked',
    });
    const history = await customer.asSession('GET', `/api/v1/licenses/${body.data[0].id}/history`);
    expect(
      history.body.data.map(({ action, changes }: { action: string; changes: unknown[] }) => [
        action,
        changes,
      ]),
    ).toEqual([
      ['revoked', [{ field: 'status', from: 'active', to: 'revoked' }]],
      ['changed', [{ field: 'customer_name', from: 'Ada', to: 'Grace' }]],
      ['created', []],
    ]);
    expect((await verify(customer, 'KEY-000001')).body.status).toBe('revoked');
  });

  test('lines of one request see the lines before them, also in a dry run', async () => {
    const customer = await signUp();
    const body = toLines([
      { license_key: 'KEY-000001', customer_name: 'Ada' },
      { license_key: 'KEY-000001', customer_name: 'Ada' },
      { license_key: 'KEY-000001', customer_name: 'Grace' },
    ]);
    for (const query of ['?on_conflict=update&dry_run=true', '?on_conflict=update']) {
      const { answers } = await importAs(customer, body, query);
      expect(answers.map(({ result }) => result)).toEqual(['created', 'unchanged', 'updated']);
    }
    const { body: found } = await customer.asSession('GET', '/api/v1/licenses');
    expect(found.data.map((license: { customer_name: string }) => license.customer_name)).toEqual(['Grace']);
  });

  test('gives equal lines without a key keys of their own, and the same keys when they are sent again', async () => {
    const customer = await signUp();
    const line = { customer_email: 'ada@example.com', product: 'orrery' };
    const first = await importAs(customer, toLines([line, line]));
    expect(first.totals).toMatchObject({ created: 2 });
    const again = await importAs(customer, toLines([line, line, { ...line, copy: 3 }]));
    expect(again.answers.map(({ result }) => result)).toEqual(['unchanged', 'unchanged', 'created']);
  });

  test('a new license without dates gets those of its product, from the day it was created', async () => {
    const customer = await signUp();
    const product = { type: 'product', code: 'orrery', terms: { duration_days: 10, updates_days: 5 } };
    const { answers } = await importAs(
      customer,
      toLines([product, { license_key: 'KEY-000001', product: 'orrery', created_at: '2020-01-01' }]),
    );
    const { body } = await customer.asSession('GET', `/api/v1/licenses/${answers[1].id}`);
    expect(body).toMatchObject({ expires_at: '2020-01-11', updates_until: '2020-01-06' });
  });

  test('fills the plan’s limit of licenses exactly, in parallel', async () => {
    const customer = await signUp();
    await accountsD1
      .prepare('UPDATE license_totals SET licenses = 9990 WHERE account_id = ?')
      .bind(customer.accountId)
      .run();
    const body = (from: string) =>
      toLines(Array.from({ length: 8 }, (_, i) => ({ license_key: `KEY-${from}-${i}000` })));
    const dry = await importAs(customer, body('A') + body('B'), '?dry_run=true');
    expect(dry.totals).toMatchObject({ created: 10, failed: 6 });
    const both = await Promise.all([importBeside(customer, body('A')), importBeside(customer, body('B'))]);
    expect(both.map(({ totals }) => totals.created).reduce((a, b) => a + b)).toBe(10);
    const codes = both.flatMap(({ answers }) => answers.flatMap(({ error }) => error?.code ?? []));
    expect(new Set(codes)).toEqual(new Set(['license_limit_reached']));
  });

  test('sends license.created only with events=true', async () => {
    const customer = await signUp();
    const events = async () => (await customer.asSession('GET', '/api/dashboard')).body.recent_events.length;
    await importAs(customer, toLines([{ license_key: 'KEY-000001' }]));
    expect(await events()).toBe(0);
    await importAs(customer, toLines([{ license_key: 'KEY-000002' }]), '?events=true');
    await expect.poll(events).toBe(1);
  });

  test('parallel imports that update the same license all succeed', async () => {
    const customer = await signUp();
    await importAs(customer, toLines([{ license_key: 'KEY-000001' }]));
    const update = (i: number) =>
      importBeside(
        customer,
        toLines([
          { license_key: 'KEY-000001', customer_name: `Name ${i}` },
          { license_key: `KEY-10000${i}` },
        ]),
        'update',
      );
    const all = await Promise.all(Array.from({ length: 12 }, (_, i) => update(i)));
    const changes = all.map(({ totals }) => [totals?.updated, totals?.created]);
    expect(changes).toEqual(Array.from({ length: 12 }, () => [1, 1]));
  });

  test('parallel imports of the same lines create each license once', async () => {
    const customer = await signUp();
    const body = toLines(Array.from({ length: 20 }, (_, i) => ({ license_key: `KEY-00000${i}` })));
    const both = await Promise.all([importBeside(customer, body), importBeside(customer, body)]);
    const results = both.map(({ totals }) => totals.created + totals.unchanged);
    expect(results).toEqual([20, 20]);
    expect(both.map(({ totals }) => totals.created).reduce((a, b) => a + b)).toBe(20);
  });
});
