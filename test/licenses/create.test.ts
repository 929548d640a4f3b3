import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Customer, type Json, register, signUp } from '../support/client.ts';
import { atTime, useFakeClock } from '../support/fake-clock.ts';

const CREATE = '/api/v1/licenses/create';

describe('a license created without details', () => {
  const NOON = '2027-03-10T12:00:00.000Z';
  let ada: Customer;

  beforeAll(async () => {
    ada = await atTime(NOON, signUp);
  });

  test.for([
    { name: 'no body', body: undefined },
    { name: 'an empty body', body: {} },
    {
      name: 'null fields',
      body: {
        customer_email: null,
        customer_name: null,
        customer_company: null,
        product: null,
        metadata: null,
      },
    },
  ])('gets the defaults from $name', async ({ body }) => {
    useFakeClock(NOON);
    const created = await ada.asSession('POST', CREATE, body);
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.stringMatching(/^lic_[0-9A-Za-z]{20}$/),
      license_key: expect.stringMatching(/^([0-9A-Z]{5}-){4}[0-9A-Z]{5}$/),
      status: 'active',
      product: null,
      customer_email: ada.email,
      customer_name: null,
      customer_company: null,
      expires_at: null,
      metadata: {},
      terms: {},
      updates_until: null,
      created_at: NOON,
      updated_at: NOON,
    });
  });
});

test('a license keeps every field it was created with', async () => {
  useFakeClock('2027-03-10T12:00:00.000Z');
  const ada = await signUp();
  const fields = {
    license_key: 'ORRERY-2027.7_a',
    product: 'Orrery « Pro » ☿',
    customer_email: 'bob@example.com',
    customer_name: 'Bob O’Neill 😀',
    customer_company: 'O’Neill & Söhne',
    expires_at: '2027-03-10',
    metadata: { seats: 5, trial: false, note: 'a "quoted" note', ratio: 0.25, '': 'no name' },
  };
  const created = await ada.asKey('POST', CREATE, { ...fields, customer_email: ' BOB@Example.com ' });
  expect([created.status, created.body]).toEqual([201, { ...created.body, ...fields, status: 'active' }]);
  const path = `/api/v1/licenses/${created.body.id}`;
  expect((await ada.asSession('GET', path)).body).toEqual(created.body);
  expect((await ada.verify(fields.license_key)).body).toMatchObject({ valid: true, api_usage: 2 });
});

describe('the expiry of a new license', () => {
  const LAST_SECOND = '2028-02-28T23:59:59.000Z';
  let ada: Awaited<ReturnType<typeof register>>;

  beforeAll(async () => {
    ada = await atTime(LAST_SECOND, register);
  });

  beforeEach(() => {
    useFakeClock(LAST_SECOND);
  });

  const create = (fields: object) => ada.asSession('POST', CREATE, fields);
  const invalidFieldOf = ({ status, body }: Json) => [status, body.error.details[0].path];

  test.for([
    { fields: { duration_days: 1 }, expiresAt: '2028-02-29' },
    { fields: { duration_days: 2 }, expiresAt: '2028-03-01' },
    { fields: { duration_days: 36_500 }, expiresAt: '2128-02-04' },
    { fields: { expires_at: '2028-02-28' }, expiresAt: '2028-02-28' },
    { fields: { expires_at: '9999-12-31' }, expiresAt: '9999-12-31' },
    { fields: { expires_at: null }, expiresAt: null },
  ])('is $expiresAt for $fields on Feb 28', async ({ fields, expiresAt }) => {
    const { status, body } = await create(fields);
    expect([status, body.expires_at]).toEqual([201, expiresAt]);
  });

  test.for([
    { expires_at: '2028-02-27' },
    { expires_at: '2027-02-29' },
    { expires_at: '2028-2-29' },
    { expires_at: '29.02.2028' },
    { expires_at: '2028-02-29T00:00:00Z' },
    { expires_at: '' },
    { expires_at: 20_280_229 },
  ])('can’t be the date $expires_at', async (fields) => {
    expect(invalidFieldOf(await create(fields))).toEqual([400, 'expires_at']);
  });

  test('can’t be yesterday once a new day has started', async () => {
    useFakeClock('2028-02-29T00:00:00.000Z');
    expect(invalidFieldOf(await create({ expires_at: '2028-02-28' }))).toEqual([400, 'expires_at']);
  });

  test.for([
    { duration_days: 0 },
    { duration_days: -1 },
    { duration_days: 1.5 },
    { duration_days: 36_501 },
    { duration_days: '30' },
    { duration_days: null },
  ])('can’t come from duration_days $duration_days', async (fields) => {
    expect(invalidFieldOf(await create(fields))).toEqual([400, 'duration_days']);
  });

  test.for([
    { expires_at: '2030-01-01', duration_days: 3 },
    { expires_at: null, duration_days: 3 },
  ])('can’t be $expires_at if duration_days is also set', async (fields) => {
    expect(invalidFieldOf(await create(fields))).toEqual([400, 'duration_days']);
  });
});

describe('a license key that the seller chooses', () => {
  let ada: Customer;

  beforeAll(async () => {
    ada = await signUp();
  });

  const create = async (licenseKey: unknown) => {
    const { status, body } = await ada.asSession('POST', CREATE, { license_key: licenseKey });
    return status === 201 ? body.license_key : `${status} ${body.error.code}`;
  };

  test.for([
    { name: '8 digits', licenseKey: '12345678' },
    { name: 'letters, dots, hyphens, and underscores', licenseKey: 'a.b-c_d.' },
    { name: '128 characters', licenseKey: 'X'.repeat(128) },
  ])('may be $name', async ({ licenseKey }) => {
    expect(await create(licenseKey)).toBe(licenseKey);
  });

  test.for([
    { name: '7 characters', licenseKey: '1234567' },
    { name: '129 characters', licenseKey: 'X'.repeat(129) },
    { name: 'text with a space', licenseKey: 'with space' },
    { name: 'text with an umlaut', licenseKey: 'schlüssel' },
    { name: 'text with slashes', licenseKey: 'a/b/c/d/e' },
    { name: 'a number', licenseKey: 12_345_678 },
    { name: 'null', licenseKey: null },
    { name: 'empty', licenseKey: '' },
  ])('can’t be $name', async ({ licenseKey }) => {
    expect(await create(licenseKey)).toBe('400 invalid_request');
  });

  test('is unique within its account and case-sensitive', async () => {
    const bob = await register();
    expect(await create('Unique-1')).toBe('Unique-1');
    expect(await create('Unique-1')).toBe('409 license_key_taken');
    expect(await create('UNIQUE-1')).toBe('UNIQUE-1');
    expect((await bob.asSession('POST', CREATE, { license_key: 'Unique-1' })).status).toBe(201);
  });

  test('goes to one of ten parallel calls, and the refused calls cost no usage', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => ada.asKey('POST', CREATE, { license_key: 'ONLY-ONE-OF-US' })),
    );
    const winners = answers.filter(({ status }) => status === 201);
    const losers = answers.filter(({ status }) => status === 409);
    expect([winners.length, losers.length]).toEqual([1, 9]);
    expect((await ada.verify('ONLY-ONE-OF-US')).body).toMatchObject({ valid: true, api_usage: 2 });
  });

  test('stays taken after its license is revoked', async () => {
    const { id } = await ada.createLicense({ license_key: 'REVOKED-KEY' });
    await ada.asSession('POST', `/api/v1/licenses/${id}/revoke`);
    expect(await create('REVOKED-KEY')).toBe('409 license_key_taken');
  });
});

describe('creating a license with invalid details', () => {
  let ada: Customer;

  beforeAll(async () => {
    ada = await signUp();
  });

  test.for([
    { name: 'a misspelled field', path: 'licence_key', body: { licence_key: 'TYPO-IN-THE-NAME' } },
    { name: 'a status', path: 'status', body: { status: 'revoked' } },
    { name: 'an id', path: 'id', body: { id: 'lic_mine' } },
    { name: 'an invalid email', path: 'customer_email', body: { customer_email: 'nobody' } },
    { name: 'a blank customer name', path: 'customer_name', body: { customer_name: '  ' } },
    {
      name: 'a customer name of 201 characters',
      path: 'customer_name',
      body: { customer_name: 'x'.repeat(201) },
    },
    { name: 'a product of 201 characters', path: 'product', body: { product: 'x'.repeat(201) } },
    { name: 'a metadata array', path: 'metadata', body: { metadata: [1, 2] } },
    { name: 'metadata text', path: 'metadata', body: { metadata: 'text' } },
    { name: 'a nested metadata object', path: 'metadata.deep', body: { metadata: { deep: { er: 1 } } } },
    { name: 'a null metadata value', path: 'metadata.none', body: { metadata: { none: null } } },
    { name: 'a metadata list', path: 'metadata.list', body: { metadata: { list: [] } } },
    { name: 'metadata of 4,097 characters', path: 'metadata', body: { metadata: { a: 'x'.repeat(4_089) } } },
    { name: 'metadata of 4,098 bytes', path: 'metadata', body: { metadata: { a: 'ü'.repeat(2_045) } } },
  ])('rejects $name and names the field $path', async ({ path, body }) => {
    const { status, body: response } = await ada.asSession('POST', CREATE, body);
    expect([status, response.error.code, response.error.details[0].path]).toEqual([
      400,
      'invalid_request',
      path,
    ]);
  });

  test('creates no license and costs no usage', async () => {
    expect((await ada.asKey('POST', CREATE, { status: 'revoked' })).status).toBe(400);
    expect((await ada.asSession('GET', '/api/v1/licenses')).body.data).toEqual([]);
    expect((await ada.verify('UNKNOWN-KEY')).body.api_usage).toBe(0);
  });
});

test('a license takes metadata of up to 4,096 bytes', async () => {
  const ada = await register();
  const metadata = { a: 'x'.repeat(4_088) };
  expect(JSON.stringify(metadata)).toHaveLength(4_096);
  const { status, body: license } = await ada.asSession('POST', CREATE, { metadata });
  expect(status).toBe(201);
  expect((await ada.asSession('GET', `/api/v1/licenses/${license.id}`)).body.metadata).toEqual(metadata);
});
