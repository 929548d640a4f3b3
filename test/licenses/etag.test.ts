import { expect, test } from 'vitest';
import { expectError } from '../http/expect-error.ts';
import { signUp, tallyOf } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';

const PRODUCT = '/api/v1/products/orrery';

test('a change with If-Match is made only to the version that the caller has read', async () => {
  const ada = await signUp();
  const { id } = await ada.createLicense({ customer_name: 'Grace' });
  const path = `/api/v1/licenses/${id}`;
  const read = await ada.asSession('GET', path);
  const etag = read.headers.get('etag') ?? '';
  expect(etag).toMatch(/^"[a-z0-9]+-active"$/);

  const renamed = await ada.asSession('PATCH', path, { customer_name: 'Ada' }, { 'if-match': etag });
  expect([renamed.status, renamed.headers.get('etag') === etag]).toEqual([200, false]);
  for (const [method, of, body] of [
    ['PATCH', path, { customer_name: 'Lost' }],
    ['POST', `${path}/suspend`, {}],
    ['POST', `${path}/renew`, { duration_days: 30 }],
    ['POST', `${path}/rotate-key`, {}],
    ['DELETE', path, undefined],
  ] as const)
    expectError(await ada.asSession(method, of, body, { 'if-match': etag }), 412, 'precondition_failed');
  expect((await ada.asSession('GET', path)).body.customer_name).toBe('Ada');

  const current = renamed.headers.get('etag') ?? '';
  const weak = { 'if-match': `"other", W/${current}` };
  expect((await ada.asSession('POST', `${path}/suspend`, {}, weak)).status).toBe(200);
  expect((await ada.asSession('DELETE', path, undefined, { 'if-match': '*' })).status).toBe(200);
});

test('of two changes in parallel with the same If-Match one is made', async () => {
  const ada = await signUp();
  const { id } = await ada.createLicense({});
  const path = `/api/v1/licenses/${id}`;
  const headers = { 'if-match': (await ada.asSession('GET', path)).headers.get('etag') ?? '' };
  const names = ['a', 'b', 'c', 'd', 'e'];
  const answers = await Promise.all(
    names.map((customer_name) => ada.asSession('PATCH', path, { customer_name }, headers)),
  );
  expect(tallyOf(answers)).toEqual({ '200 ok': 1, '412 precondition_failed': 4 });
});

test('a product is replaced or deleted only as it was read, if the call says so', async () => {
  const ada = await signUp();
  expectError(await ada.asSession('PUT', PRODUCT, {}, { 'if-match': '*' }), 412, 'precondition_failed');
  const made = await ada.asSession('PUT', PRODUCT, { name: 'One' });
  const headers = { 'if-match': made.headers.get('etag') ?? '' };
  const answers = await Promise.all(
    ['Two', 'Three', 'Four'].map((name) => ada.asSession('PUT', PRODUCT, { name }, headers)),
  );
  expect(tallyOf(answers)).toEqual({ '200 ok': 1, '412 precondition_failed': 2 });
  expectError(await ada.asSession('DELETE', PRODUCT, undefined, headers), 412, 'precondition_failed');
  const etag = (await ada.asSession('GET', PRODUCT)).headers.get('etag') ?? '';
  expect((await ada.asSession('DELETE', PRODUCT, undefined, { 'if-match': etag })).status).toBe(200);
});

test('an import that changes a product changes its ETag, also within the same millisecond', async () => {
  useFakeClock();
  const ada = await signUp();
  const before = (await ada.asSession('PUT', PRODUCT, { name: 'One' })).headers.get('etag');
  const line = '{"type":"product","code":"orrery","name":"Two"}\n';
  const path = '/api/v1/licenses/import?on_conflict=update';
  const { body } = await ada.asSession('POST', path, line, { 'content-type': 'application/x-ndjson' });
  expect(body[0]).toMatchObject({ result: 'updated' });
  expect((await ada.asSession('GET', PRODUCT)).headers.get('etag')).not.toBe(before);
});

test('a PATCH merges metadata, and null takes an entry away', async () => {
  const ada = await signUp();
  const { id } = await ada.createLicense({ metadata: { order: 7, plan: 'pro', note: 'x' } });
  const path = `/api/v1/licenses/${id}`;
  const merged = await ada.asSession('PATCH', path, { metadata: { plan: 'max', note: null, seats: 3 } });
  expect(merged.body.metadata).toEqual({ order: 7, plan: 'max', seats: 3 });
  expect((await ada.asSession('PATCH', path, { metadata: {} })).body.metadata).toEqual(merged.body.metadata);
  const large = { metadata: { a: 'x'.repeat(3_000) } };
  expect((await ada.asSession('PATCH', path, large)).status).toBe(200);
  const tooLarge = await ada.asSession('PATCH', path, { metadata: { b: 'x'.repeat(3_000) } });
  expectError(tooLarge, 400, 'invalid_request');
  expect(tooLarge.body.error.details).toEqual([{ path: 'metadata', message: 'must fit in 4 KiB of JSON' }]);
});

test('an address may have letters of any alphabet, and a domain has one spelling', async () => {
  const ada = await signUp();
  const create = async (customer_email: string) =>
    (await ada.createLicense({ customer_email })).customer_email;
  expect(await create('JOSÉ@Müller.example')).toBe('josé@müller.example');
  expect(await create('josé@xn--mller-kva.example')).toBe('josé@müller.example');
  expect(await create('用户@例子.广告')).toBe('用户@例子.广告');
  const found = await ada.asSession('GET', '/api/v1/licenses?customer_email=jos%C3%A9@xn--mller-kva.example');
  expect(found.body.data).toHaveLength(2);
  for (const bad of [
    'josé',
    '@müller.example',
    'a b@müller.example',
    'a@müller',
    'a@-.example',
    'a@b..example',
  ])
    expectError(
      await ada.asSession('POST', '/api/v1/licenses/create', { customer_email: bad }),
      400,
      'invalid_request',
    );
});
