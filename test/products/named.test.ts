import { expect, test } from 'vitest';
import { type Customer, type Json, outcomeOf, signUp, tallyOf } from '../support/client.ts';
import { doMeanwhile, recordStatements } from '../support/d1-queries.ts';
import { statistics } from '../support/gate.ts';
import { importAs, toLines } from '../transfer/transfer.ts';

// As soon as an account has products, a license's product must name one.

const sellerOf = async (...products: [code: string, name?: string][]) => {
  const ada = await signUp();
  for (const [code, name] of products)
    await ada.asSession('PUT', `/api/v1/products/${code}`, { name, terms: { max_activations: 2 } });
  return ada;
};
const create = (ada: Customer, fields: Json, query = '', headers = {}) =>
  ada.asKey('POST', `/api/v1/licenses/create${query}`, fields, headers);
const patch = (ada: Customer, { id }: Json, fields: Json, query = '') =>
  ada.asSession('PATCH', `/api/v1/licenses/${id}${query}`, fields);
const LABEL = '?allow_unknown_product=true';

const isNot = (nearest: string) => [{ path: 'product', message: `is not a product. ${nearest}` }];
const NONE_NEAR = isNot('Create it first, or allow mere labels with allow_unknown_product.');

test('a create is told which product it may have meant, also by name, and counts no call', async () => {
  const ada = await sellerOf(['orrery-pro', 'Orrery Pro'], ['sx-2', 'Sextant'], ['globe'], ['globes']);
  await sellerOf(['typo-product']);
  const CASES = [
    ['orrery', 'Did you mean "orrery-pro"?'],
    ['Orrery-Pro', 'Did you mean "orrery-pro"?'],
    ['Sextant', 'Did you mean "sx-2"?'],
    ['glob', 'Did you mean "globe" or "globes"?'],
  ] as const;
  for (const [product, nearest] of CASES) {
    const { status, body } = await create(ada, { product });
    expect([status, body.error.code, body.error.details]).toEqual([400, 'invalid_request', isNot(nearest)]);
  }
  // The code is another account's.
  expect((await create(ada, { product: 'typo-product' })).body.error.details).toEqual(NONE_NEAR);
  expect((await statistics(ada.accountId)).apiUsage).toBe(0);
  expect((await create(ada, { product: 'globe', expires_at: null })).body.product).toBe('globe');
  expect((await create(ada, {})).body.product).toBeNull();
  expect((await create(ada, { product: 'Typo Product' }, LABEL)).body.product).toBe('Typo Product');
  expect(outcomeOf(await create(ada, {}, '?allow_unknown_product=yes'))).toBe('400 invalid_request');
});

test('an account without products gives its licenses any label', async () => {
  const ada = await sellerOf();
  const license = await ada.createLicense({ product: 'Any label' });
  expect(license.product).toBe('Any label');
  expect((await patch(ada, license, { product: 'Another' })).body.product).toBe('Another');
});

test('an update leaves the product as it is, or sets another product, and no label', async () => {
  const ada = await sellerOf();
  const license = await ada.createLicense({ product: 'Old label' });
  await ada.asSession('PUT', '/api/v1/products/orrery', {});
  const { status, body } = await patch(ada, license, { product: 'orery', customer_name: 'Grace' });
  expect([status, body.error.details]).toEqual([400, isNot('Did you mean "orrery"?')]);
  expect((await patch(ada, license, { product: 'Old label', customer_name: 'Ada' })).body).toMatchObject({
    product: 'Old label',
    customer_name: 'Ada',
  });
  expect((await patch(ada, license, { product: 'orrery' })).body.product).toBe('orrery');
  expect((await patch(ada, license, { product: null })).body.product).toBeNull();
  expect(outcomeOf(await patch(ada, license, { product: 'Old label' }))).toBe('400 invalid_request');
  expect((await patch(ada, license, { product: 'Old label' }, LABEL)).body.product).toBe('Old label');
  const { body: history } = await ada.asSession('GET', `/api/v1/licenses/${license.id}/history`);
  expect(history.data).toHaveLength(5);
});

test('no license comes to name a product that is deleted meanwhile', async () => {
  const ada = await sellerOf(['kept']);
  const { id } = await ada.createLicense();
  for (let round = 0; round < 5; round++) {
    await ada.asSession('PUT', '/api/v1/products/short-lived', {});
    const answers = await Promise.all([
      create(ada, { product: 'short-lived' }),
      patch(ada, { id }, { product: 'short-lived' }),
      ada.asSession('DELETE', '/api/v1/products/short-lived'),
      importAs(ada, toLines([{ license_key: `IMPORTED-${round}`, product: 'short-lived' }])).then(
        ({ answers: [line] }) => ({
          status: line.result === 'failed' ? 400 : 201,
          headers: new Headers(),
          body: null,
        }),
      ),
      create(ada, { product: 'short-lived', expires_at: null }),
    ]);
    const { status } = await ada.asSession('GET', '/api/v1/products/short-lived');
    const { body } = await ada.asSession('GET', '/api/v1/licenses?product=short-lived');
    const named = body.data.length;
    expect({ status, named }, JSON.stringify(tallyOf(answers))).toEqual({
      status: named > 0 ? 200 : 404,
      named,
    });
    for (const license of body.data) await patch(ada, license, { product: null });
  }
});

test('a repeat with an Idempotency-Key answers as before, also when the product has gone', async () => {
  const ada = await sellerOf(['kept'], ['sold']);
  const key = { 'idempotency-key': 'order-1' };
  const first = await create(ada, { product: 'sold' }, '', key);
  await patch(ada, first.body, { product: 'kept' });
  expect(outcomeOf(await ada.asSession('DELETE', '/api/v1/products/sold'))).toBe('200 ok');
  const again = await create(ada, { product: 'sold' }, '', key);
  expect([again.status, again.body.id]).toEqual([201, first.body.id]);
  // What was refused has claimed no key.
  const other = { 'idempotency-key': 'order-2' };
  expect((await create(ada, { product: 'sold' }, '', other)).status).toBe(400);
  await ada.asSession('PUT', '/api/v1/products/sold', {});
  expect((await create(ada, { product: 'sold' }, '', other)).status).toBe(201);
});

test('a product that exists costs no statement, and one that does not a single bounded one', async () => {
  const ada = await sellerOf(['orrery']);
  const count = async (fields: Json) => {
    const send = { expires_at: null, updates_until: null, ...fields };
    return (await recordStatements(() => create(ada, send))).statements.length;
  };
  await count({});
  const without = await count({});
  expect(await count({ product: 'orrery' })).toBe(without);
  const { statements } = await recordStatements(() => create(ada, { product: 'orery', expires_at: null }));
  expect(statements.filter((statement) => statement.includes('"name" from "products"'))).toEqual([
    expect.stringMatching(/limit \?$/),
  ]);
});

test('an import fails the lines whose product is not one, and knows those of earlier lines', async () => {
  const ada = await sellerOf(['orrery-pro', 'Orrery Pro']);
  const lines = toLines([
    { license_key: 'LINE-0001', product: 'Orrery Pro' },
    { license_key: 'LINE-0002', product: 'sextant' },
    { type: 'product', code: 'sextant', name: null, terms: {} },
    { license_key: 'LINE-0003', product: 'sextant' },
    { license_key: 'LINE-0004', product: 'sextan' },
    { license_key: 'LINE-0005', product: 'orrery-pro' },
    { license_key: 'LINE-0006' },
  ]);
  const resultsOf = (answers: Json[]) => answers.map(({ result }) => result);
  const expected = ['failed', 'failed', 'created', 'created', 'failed', 'created', 'created'];
  const dry = await importAs(ada, lines, '?dry_run=true');
  expect(resultsOf(dry.answers)).toEqual(expected);
  const { answers } = await importAs(ada, lines);
  expect(resultsOf(answers)).toEqual(expected);
  expect([answers[0], answers[4]].map(({ error }) => error)).toEqual([
    { code: 'invalid_request', message: 'Invalid Request', details: isNot('Did you mean "orrery-pro"?') },
    { code: 'invalid_request', message: 'Invalid Request', details: isNot('Did you mean "sextant"?') },
  ]);
  const again = await importAs(ada, lines);
  expect(resultsOf(again.answers)).toEqual([
    'failed',
    'created',
    'unchanged',
    'unchanged',
    'failed',
    'unchanged',
    'unchanged',
  ]);
  const change = toLines([
    { license_key: 'LINE-0003', product: 'Label' },
    { license_key: 'LINE-0006', product: 'sextant' },
  ]);
  expect(resultsOf((await importAs(ada, change, '?on_conflict=update')).answers)).toEqual([
    'failed',
    'updated',
  ]);
  const allowed = `${LABEL}&on_conflict=update`;
  expect(resultsOf((await importAs(ada, change, allowed)).answers)).toEqual(['updated', 'unchanged']);
});

test('an import gives no license a label once the account has its first product', async () => {
  const ada = await sellerOf();
  await ada.createLicense({ license_key: 'LINE-0003' });
  const isMade = doMeanwhile(/product_room/, () => ada.asSession('PUT', '/api/v1/products/orrery', {}));
  const lines = toLines([
    { license_key: 'LINE-0001', product: 'orery' },
    { license_key: 'LINE-0002', product: 'orrery' },
    { license_key: 'LINE-0003', product: 'orery' },
  ]);
  const { answers } = await importAs(ada, lines, '?on_conflict=update');
  expect(isMade()).toBe(true);
  expect(answers.map(({ result }: Json) => result)).toEqual(['failed', 'created', 'failed']);
});

test('an import of an export keeps the labels that licenses had', async () => {
  const ada = await sellerOf();
  const before = await ada.createLicense({ product: 'Old label', license_key: 'LABELED-1' });
  const line = { type: 'license', ...before };
  const lines = toLines([{ type: 'product', code: 'orrery', name: null, terms: {} }, line]);
  expect((await importAs(ada, lines)).totals).toMatchObject({ created: 1, unchanged: 1 });
  await patch(ada, before, { product: 'orrery' });
  expect((await importAs(ada, lines, '?on_conflict=update')).totals).toMatchObject({ updated: 1, failed: 0 });
  const bob = await signUp();
  expect((await importAs(bob, lines)).totals).toMatchObject({ created: 2, failed: 0 });
});

test('an import reads the products no more often than its batches, however many lines fail', async () => {
  const ada = await sellerOf(['orrery']);
  const lines = Array.from({ length: 1_200 }, (_, i) => ({ product: `orrery ${i}` }));
  const { result, statements } = await recordStatements(() => importAs(ada, toLines(lines)));
  expect(result.totals).toMatchObject({ failed: 1_200 });
  expect(statements.filter((statement) => statement.includes('"name" from "products"'))).toHaveLength(1);
  expect(statements.length).toBeLessThan(40);
});
