import { expect, test, vi } from 'vitest';
import { type Json, register, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';

const CREATE = '/api/v1/licenses/create';

test('a license is made of nothing at all, or of everything that one can say of it', async () => {
  useFakeClock('2027-03-10T12:00:00.000Z');
  const ada = await signUp();
  for (const body of [
    undefined,
    {},
    { customer_email: null, customer_name: null, product: null, metadata: null },
  ]) {
    const plain = await ada.asSession('POST', CREATE, body);
    expect(plain.status).toBe(201);
    expect(plain.body).toEqual({
      id: expect.stringMatching(/^lic_[0-9A-Za-z]{20}$/),
      license_key: expect.stringMatching(/^([0-9A-Z]{5}-){4}[0-9A-Z]{5}$/),
      status: 'active',
      product: null,
      customer_email: ada.email,
      customer_name: null,
      expires_at: null,
      metadata: {},
      created_at: '2027-03-10T12:00:00.000Z',
      updated_at: '2027-03-10T12:00:00.000Z',
    });
  }
  const sent = {
    license_key: 'ORRERY-2027.7_a',
    product: 'Orrery « Pro » ☿',
    customer_email: 'bob@example.com',
    customer_name: 'Bob O’Neill 😀',
    expires_at: '2027-03-10',
    metadata: { seats: 5, trial: false, note: 'a "quoted" note', ratio: 0.25, '': 'no name' },
  };
  const full = await ada.asKey('POST', CREATE, { ...sent, customer_email: ' BOB@Example.com ' });
  expect([full.status, full.body]).toEqual([201, { ...full.body, ...sent, status: 'active' }]);
  const path = `/api/v1/licenses/${full.body.id}`;
  expect((await ada.asSession('GET', path)).body).toEqual(full.body);
  expect((await ada.verify(sent.license_key)).body).toMatchObject({ valid: true, api_usage: 2 });
});

test('a license lasts to a day or for days, never both, and never ends before it begins', async () => {
  useFakeClock('2028-02-28T23:59:59.000Z');
  const ada = await register();
  const expiry = async (fields: object): Promise<Json> => {
    const { status, body } = await ada.asSession('POST', CREATE, fields);
    return status === 201 ? body.expires_at : `${status} ${body.error.details[0].path}`;
  };
  expect(await expiry({ duration_days: 1 })).toBe('2028-02-29');
  expect(await expiry({ duration_days: 2 })).toBe('2028-03-01');
  expect(await expiry({ duration_days: 36_500 })).toBe('2128-02-04');
  expect(await expiry({ expires_at: '2028-02-28' })).toBe('2028-02-28');
  expect(await expiry({ expires_at: '9999-12-31' })).toBe('9999-12-31');
  expect(await expiry({ expires_at: null })).toBeNull();

  expect(await expiry({ expires_at: '2028-02-27' })).toBe('400 expires_at');
  vi.setSystemTime('2028-02-29T00:00:00.000Z');
  expect(await expiry({ expires_at: '2028-02-28' })).toBe('400 expires_at');
  for (const bad of ['2027-02-29', '2028-2-29', '29.02.2028', '2028-02-29T00:00:00Z', '', 20_280_229]) {
    expect(await expiry({ expires_at: bad })).toBe('400 expires_at');
  }
  for (const bad of [0, -1, 1.5, 36_501, '30', null]) {
    expect(await expiry({ duration_days: bad })).toBe('400 duration_days');
  }
  for (const expiresAt of ['2030-01-01', null]) {
    expect(await expiry({ expires_at: expiresAt, duration_days: 3 })).toBe('400 duration_days');
  }
});

test('a key of one’s own is taken once, and only if it can be typed and sent', async () => {
  const [ada, bob] = [await signUp(), await register()];
  const bring = async (licenseKey: unknown) => {
    const { status, body } = await ada.asSession('POST', CREATE, { license_key: licenseKey });
    return status === 201 ? body.license_key : `${status} ${body.error.code}`;
  };
  for (const good of ['12345678', 'a.b-c_d.', 'X'.repeat(128)]) expect(await bring(good)).toBe(good);
  for (const bad of [
    '1234567',
    'X'.repeat(129),
    'with space',
    'schlüssel',
    'a/b/c/d/e',
    12_345_678,
    null,
    '',
  ]) {
    expect(await bring(bad)).toBe('400 invalid_request');
  }
  expect(await bring('12345678')).toBe('409 license_key_taken');
  expect(await bring('x'.repeat(128))).toBe('x'.repeat(128));
  expect((await bob.asSession('POST', CREATE, { license_key: '12345678' })).status).toBe(201);

  // Of ten who bring one key at once, one gets it; the others pay nothing.
  const race = await Promise.all(
    Array.from({ length: 10 }, () => ada.asKey('POST', CREATE, { license_key: 'ONLY-ONE-OF-US' })),
  );
  const lost = race.filter(({ status }) => status === 409);
  expect([race.filter(({ status }) => status === 201).length, lost.length]).toEqual([1, 9]);
  expect((await ada.verify('ONLY-ONE-OF-US')).body).toMatchObject({ valid: true, api_usage: 2 });
  // A revoked license keeps its key.
  const [{ id }] = race.filter(({ status }) => status === 201).map(({ body }) => body);
  await ada.asSession('POST', `/api/v1/licenses/${id}/revoke`);
  expect(await bring('ONLY-ONE-OF-US')).toBe('409 license_key_taken');
});

test('what is not known, too long or too deep is refused, with its place', async () => {
  const ada = await signUp();
  const unfit: [path: string, body: object][] = [
    ['licence_key', { licence_key: 'TYPO-IN-THE-NAME' }],
    ['status', { status: 'revoked' }],
    ['id', { id: 'lic_mine' }],
    ['customer_email', { customer_email: 'nobody' }],
    ['customer_name', { customer_name: '  ' }],
    ['customer_name', { customer_name: 'x'.repeat(201) }],
    ['product', { product: 'x'.repeat(201) }],
    ['metadata', { metadata: [1, 2] }],
    ['metadata', { metadata: 'text' }],
    ['metadata.deep', { metadata: { deep: { er: 1 } } }],
    ['metadata.none', { metadata: { none: null } }],
    ['metadata.list', { metadata: { list: [] } }],
    ['metadata', { metadata: { a: 'x'.repeat(4_089) } }],
    ['metadata', { metadata: { a: 'ü'.repeat(2_045) } }],
  ];
  for (const [path, body] of unfit) {
    const { status, body: said } = await ada.asSession('POST', CREATE, body);
    expect([status, said.error.code, said.error.details[0].path]).toEqual([400, 'invalid_request', path]);
  }
  const largest = { a: 'x'.repeat(4_088) };
  expect(JSON.stringify(largest)).toHaveLength(4_096);
  const made = await ada.createLicense({ metadata: largest });
  expect((await ada.asSession('GET', `/api/v1/licenses/${made.id}`)).body.metadata).toEqual(largest);
  // What was refused has left nothing and cost nothing.
  expect((await ada.asSession('GET', '/api/v1/licenses')).body.data).toHaveLength(1);
  expect((await ada.asKey('POST', CREATE, { status: 'revoked' })).status).toBe(400);
  expect((await ada.verify(made.license_key)).body.api_usage).toBe(1);
});
