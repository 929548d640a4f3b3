import { beforeAll, expect, test } from 'vitest';
import { type Json, outcomeOf, signUp } from '../support/client.ts';
import { keepMails, lastMailTo } from '../support/mails.ts';
import { freshEmail, openPortal, signInByApplication } from '../support/portal.ts';
import { verifyAddress } from '../support/sign-in.ts';
import { setCountedBytes } from '../support/storage.ts';

beforeAll(keepMails);

const ALL = { release_seat: true, offline_file: true, rotate_key: true, change_email: true };

const customerWithLicense = async (terms: Json = { max_activations: 1 }, settings: Json = { allow: ALL }) => {
  const ada = await signUp();
  await verifyAddress(ada.accountId);
  await ada.asSession('PUT', '/api/v1/products/pro', { name: 'Orrery Pro', terms });
  const slug = await openPortal(ada, settings);
  const email = freshEmail();
  const license = await ada.createLicense({ customer_email: email, product: 'pro' });
  const { asCustomer } = await signInByApplication(ada, slug, { customer_email: email });
  const path = `/licenses/${license.id}`;
  const activate = (fingerprint: string, name = 'Ada’s laptop') =>
    ada.asKey('POST', '/api/v1/licenses/activate', { license_key: license.license_key, fingerprint, name });
  return { ada, slug, email, license, asCustomer, path, activate };
};

test('a customer sees their licenses, their terms, and their machines, but keys on demand only', async () => {
  const { ada, email, license, asCustomer, path, activate } = await customerWithLicense();
  await activate('machine-one-fingerprint');
  const list = await asCustomer('GET', '/licenses');
  expect(list.body.data).toMatchObject([
    {
      id: license.id,
      status: 'active',
      product: 'pro',
      product_name: 'Orrery Pro',
      max_activations: 1,
      expires_at: null,
    },
  ]);
  const details = await asCustomer('GET', path);
  expect(details.body).toMatchObject({
    seats: { used: 1, limit: 1 },
    activations: [{ name: 'Ada’s laptop', last_seen_at: expect.stringContaining('T'), held_until: null }],
    can: { release_seat: true, offline_file: true, rotate_key: true },
  });
  const shown = JSON.stringify([list.body, details.body]);
  expect(shown).not.toContain(license.license_key);
  expect(shown).not.toContain('machine-one-fingerprint');
  expect(details.body.masked_key).toBe(
    `${license.license_key.slice(0, 5)}********${license.license_key.slice(-4)}`,
  );
  expect((await asCustomer('GET', `${path}/key`)).body).toEqual({ license_key: license.license_key });
  for (let i = 0; i < 3; i++)
    await ada.createLicense({ customer_email: email.toUpperCase(), product: 'pro' });
  const pages = [await asCustomer('GET', '/licenses?limit=3')];
  pages.push(await asCustomer('GET', `/licenses?limit=3&cursor=${pages[0]?.body.next_cursor}`));
  expect(pages.map(({ body }) => body.data.length)).toEqual([3, 1]);
});

test('another customer’s license is not found, whatever is done with it', async () => {
  const { ada, slug, license, asCustomer, activate } = await customerWithLicense();
  const { body } = await activate('machine-one-fingerprint');
  const other = freshEmail();
  await ada.createLicense({ customer_email: other });
  const eve = await signInByApplication(ada, slug, { customer_email: other });
  const bob = await customerWithLicense();
  const path = `/licenses/${license.id}`;
  for (const [method, at, sent] of [
    ['GET', path],
    ['GET', `${path}/key`],
    ['DELETE', `${path}/activations/${body.activation.id}`],
    ['POST', `${path}/token`, { fingerprint: 'machine-one-fingerprint' }],
    ['POST', `${path}/rotate-key`, {}],
  ] as const) {
    expect([at, outcomeOf(await eve.asCustomer(method, at, sent))]).toEqual([at, '404 license_not_found']);
    expect([at, outcomeOf(await bob.asCustomer(method, at, sent))]).toEqual([at, '404 license_not_found']);
  }
  expect((await asCustomer('GET', path)).body.seats.used).toBe(1);
  // A license that its seller gives another address is that customer's at once.
  await ada.asSession('PATCH', `/api/v1/licenses/${license.id}`, { customer_email: other });
  expect(outcomeOf(await asCustomer('GET', path))).toBe('404 license_not_found');
  expect(outcomeOf(await eve.asCustomer('GET', path))).toBe('200 ok');
});

test('a customer releases a seat, which counts as a transfer for the next machine', async () => {
  const { ada, license, asCustomer, path, activate } = await customerWithLicense({
    max_activations: 1,
    max_transfers: 1,
  });
  const first = await activate('machine-one-fingerprint');
  expect((await activate('machine-two-fingerprint')).body.code).toBe('no_seat');
  const release = (id: string) => asCustomer('DELETE', `${path}/activations/${id}`);
  expect((await release(first.body.activation.id)).body).toEqual({
    id: first.body.activation.id,
    deleted: true,
  });
  expect(outcomeOf(await release(first.body.activation.id))).toBe('404 activation_not_found');
  const second = await activate('machine-two-fingerprint');
  expect(second.body.code).toBe('valid');
  await release(second.body.activation.id);
  expect((await activate('machine-three-fingerprint')).body.code).toBe('transfer_limit');
  const history = await ada.asSession('GET', `/api/v1/licenses/${license.id}/seat-history`);
  expect(history.body.data.filter(({ action }: Json) => action === 'released')).toMatchObject([
    { by: 'customer' },
    { by: 'customer' },
  ]);
  const log = await ada.asSession('GET', '/api/audit-log?action=activation.release');
  expect(log.body.data).toMatchObject([{ actor: { kind: 'customer' } }, { actor: { kind: 'customer' } }]);
});

test('an offline file takes a seat, and holds it against the customer, too', async () => {
  const { asCustomer, path, activate } = await customerWithLicense({ max_activations: 1, offline_days: 3 });
  const file = await asCustomer('POST', `${path}/token`, { request_code: ' machine-one-\n fingerprint ' });
  expect([outcomeOf(file), file.body.token.split('.').length]).toEqual(['200 ok', 3]);
  const claims = JSON.parse(atob(file.body.token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')));
  expect(claims).toMatchObject({ kind: 'offline', code: 'valid' });
  const leftDays = (Date.parse(file.body.expires_at) - Date.now()) / 86_400_000;
  expect(leftDays > 2.9 && leftDays <= 3).toBe(true);
  const { body } = await asCustomer('GET', path);
  expect(body.activations).toMatchObject([{ held_until: expect.stringContaining('T') }]);
  const released = await asCustomer('DELETE', `${path}/activations/${body.activations[0].id}`);
  expect(outcomeOf(released)).toBe('409 invalid_transition');
  expect(released.body.error.message).not.toContain('force');
  expect((await activate('machine-two-fingerprint')).body.code).toBe('no_seat');
  expect(
    outcomeOf(await asCustomer('POST', `${path}/token`, { fingerprint: 'machine-two-fingerprint' })),
  ).toBe('409 no_seat');
  expect(outcomeOf(await asCustomer('POST', `${path}/token`, { fingerprint: 'short' }))).toBe(
    '400 invalid_request',
  );
  expect(outcomeOf(await asCustomer('POST', `${path}/token`, {}))).toBe('400 invalid_request');
});

test('a customer changes a key, and the old one is unknown from then on', async () => {
  const { ada, license, asCustomer, path } = await customerWithLicense();
  const { body } = await asCustomer('POST', `${path}/rotate-key`, {});
  expect(body.license_key).not.toBe(license.license_key);
  expect((await ada.verify(license.license_key)).body.status).toBe('not_found');
  expect((await ada.verify(body.license_key)).body.status).toBe('active');
  const history = await ada.asSession('GET', `/api/v1/licenses/${license.id}/history`);
  expect(history.body.data[0]).toMatchObject({ action: 'key_rotated', by: { kind: 'customer' } });
  for (let i = 0; i < 4; i++) await asCustomer('POST', `${path}/rotate-key`, {});
  expect(outcomeOf(await asCustomer('POST', `${path}/rotate-key`, {}))).toBe('429 rate_limit_exceeded');
});

test('a customer may do what the seller allows, for each product', async () => {
  const { asCustomer, path, activate } = await customerWithLicense(
    { max_activations: 1 },
    {
      allow: { rotate_key: true, change_email: false },
      products: { pro: { rotate_key: false, release_seat: false, offline_file: false } },
    },
  );
  const { body } = await activate('machine-one-fingerprint');
  expect((await asCustomer('GET', path)).body.can).toEqual({
    release_seat: false,
    offline_file: false,
    rotate_key: false,
  });
  const outcome = async (method: string, at: string, sent?: object) =>
    outcomeOf(await asCustomer(method, at, sent));
  expect(await outcome('POST', `${path}/rotate-key`, {})).toBe('403 portal_disabled');
  expect(await outcome('POST', `${path}/token`, { fingerprint: 'machine-one-fingerprint' })).toBe(
    '403 portal_disabled',
  );
  expect(await outcome('DELETE', `${path}/activations/${body.activation.id}`)).toBe('403 portal_disabled');
  expect(await outcome('POST', '/change-email', { email: freshEmail() })).toBe('403 portal_disabled');
});

test('a customer has their keys sent to their address', async () => {
  const { email, license, asCustomer, slug } = await customerWithLicense();
  expect(outcomeOf(await asCustomer('POST', '/resend-keys', {}))).toBe('202 ok');
  const mail = await lastMailTo(email);
  expect(mail.text).toContain(`Orrery Pro: ${license.license_key}`);
  expect(mail.text).toContain(`/portal/${slug}`);
});

test('a license without offline days has no offline files', async () => {
  const { asCustomer, path } = await customerWithLicense({ offline_days: 0 });
  expect((await asCustomer('GET', path)).body.can.offline_file).toBe(false);
  const file = await asCustomer('POST', `${path}/token`, { fingerprint: 'machine-one-fingerprint' });
  expect(outcomeOf(file)).toBe('403 portal_disabled');
});

test('nothing is sent to an erased customer, whose license an application can still open', async () => {
  const { ada, slug, email, license, asCustomer } = await customerWithLicense();
  await ada.asSession('POST', '/api/erase-customer', { customer_email: email });
  expect(outcomeOf(await asCustomer('GET', '/licenses'))).toBe('401 portal_session_required');
  const opened = await signInByApplication(ada, slug, { license_id: license.id });
  expect((await opened.asCustomer('GET', '/licenses')).body.data).toHaveLength(1);
  expect(outcomeOf(await opened.asCustomer('POST', '/resend-keys', {}))).toBe('404 license_not_found');
  const change = await opened.asCustomer('POST', '/change-email', { email: freshEmail() });
  expect(outcomeOf(change)).toBe('404 license_not_found');
  const erased = { customer_email: 'erased@customer.invalid' };
  expect(outcomeOf(await ada.asKey('POST', '/api/v1/portal-sessions', erased))).toBe('404 not_found');
});

test('customers of an account that is full see their keys, and fill it with no entries', async () => {
  const { ada, slug, email, license, asCustomer, path } = await customerWithLicense();
  const other = await signInByApplication(ada, slug, { customer_email: email });
  await setCountedBytes(ada.accountId, 500_000_000);
  for (const look of [asCustomer, other.asCustomer])
    expect((await look('GET', `${path}/key`)).body).toEqual({ license_key: license.license_key });
  const entries = async () =>
    (await ada.asSession('GET', '/api/audit-log?action=license.reveal_key')).body.data;
  expect(await entries()).toHaveLength(1);
  await setCountedBytes(ada.accountId, 0);
  for (const look of [asCustomer, other.asCustomer]) await look('GET', `${path}/key`);
  expect(await entries()).toHaveLength(3);
});
