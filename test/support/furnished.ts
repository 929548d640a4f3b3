import { expect } from 'vitest';
import { begin, press } from '../billing/sandbox.ts';
import { openShop, paid } from '../stores/shop.ts';
import { importAs, toLines } from '../transfer/transfer.ts';
import { type Customer, outcomeOf } from './client.ts';
import { accountsD1, firstD1 } from './databases.ts';
import { addEndpoint } from './outbox.ts';
import { openPortal, signInByApplication } from './portal.ts';
import { newReceiver } from './receiver.ts';
import { openBranch, setHome } from './regions.ts';
import { asVisitor, login, verifyAddress } from './sign-in.ts';
import { enableTwoFactor } from './two-factor.ts';
import { waitUntil } from './wait-until.ts';

// An account with a row in every table that can have one, and its owner's name in every text of its own.

export const OWNER = 'Grace Hopper';
export const CUSTOMER = 'yolanda@customers.example';
export const SHOP = 'https://grace-hopper.example';

/** How an owner signs in, and what is under way. */
export const furnishUser = async (ada: Customer) => {
  await verifyAddress(ada.accountId);
  // One more than the emails that an address gets in an hour.
  const same = { current_password: ada.password, password: ada.password };
  for (let i = 0; i < 6; i++)
    expect(outcomeOf(await ada.asSession('POST', '/api/change-password', same))).toBe('200 ok');
  const held = firstD1
    .prepare('SELECT count(*) AS n FROM held_notices WHERE account_id = ?')
    .bind(ada.accountId);
  await waitUntil(async () => held.first<number>('n'));
  expect(outcomeOf(await login(ada.email, ada.password))).toBe('200 ok');
  const { recoveryCodes } = await enableTwoFactor(ada);
  await asVisitor('/api/forgot-password', { email: ada.email });
  const email = `new-${ada.email}`;
  const change = { email, current_password: ada.password };
  expect(outcomeOf(await ada.asSession('POST', '/api/change-email', change))).toBe('202 ok');
  await firstD1
    .prepare("INSERT INTO invitations VALUES ('inv_1', 'hash', ?, 1, 9999999999999)")
    .bind(ada.email)
    .run();
  return { pending: email, code: recoveryCodes[0] };
};

/** What an owner sells, and with what. */
export const furnishAccount = async (ada: Customer) => {
  await setHome(ada.accountId, 'enam');
  const settings = { name: OWNER, allowed_origins: [SHOP], muted_emails: ['usage'] };
  expect((await ada.asSession('PATCH', '/api/account', settings)).status).toBe(200);
  const urls = { success_url: `${SHOP}/thanks`, cancel_url: `${SHOP}/no` };
  await press((await begin(ada, urls)).checkout_url, 'paid');
  const shop = await openShop({}, ada);
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid('1', { email: CUSTOMER }));
  await accountsD1
    .prepare("INSERT INTO product_mails (account_id, product, updated_at) VALUES (?, 'mill', 1)")
    .bind(ada.accountId)
    .run();
  await ada.asSession('PUT', '/api/v1/products/mill', { name: OWNER, terms: { max_activations: 2 } });
  await ada.asSession('POST', '/api/create-api-key', { name: OWNER }, { 'idempotency-key': 'Grace-Hopper' });
  const endpoint = await addEndpoint(ada, (await newReceiver({ status: 500, echoes: true })).url, {
    description: OWNER,
  });
  const license = await ada.createLicense({ customer_email: CUSTOMER, product: 'mill' });
  await ada.asSession('POST', `/api/v1/licenses/${license.id}/suspend`, { reason: OWNER });
  await ada.asSession('POST', `/api/v1/licenses/${license.id}/reinstate`);
  const seat = { license_key: license.license_key, fingerprint: 'machine-1', name: OWNER };
  expect((await ada.asKey('POST', '/api/v1/licenses/activate', seat)).body.code).toBe('valid');
  await importAs(ada, toLines([{ customer_name: OWNER, product: 'mill' }]));
  await openBranch('oc', ada, (await ada.createLicense()).license_key);
  await waitUntil(endpoint.deliveries, (all) => all.some(({ attempts }) => attempts.length > 0));
  const slug = await openPortal(ada, { name: OWNER, support_url: SHOP });
  await ada.asKey('POST', '/api/v1/portal-sessions', { license_id: license.id, return_url: SHOP });
  const { asCustomer } = await signInByApplication(ada, slug, { customer_email: CUSTOMER });
  await verifyAddress(ada.accountId);
  await asCustomer('POST', '/change-email', { email: 'zoe@customers.example' });
  // What an outbox and an erasure note for a while.
  const { accountId } = ada;
  await accountsD1.batch([
    accountsD1
      .prepare(
        "INSERT OR IGNORE INTO object_states (account_id, object, loading, waiting, failing_endpoints) VALUES (?, 'outbox', 0, 1, 1)",
      )
      .bind(accountId),
    accountsD1
      .prepare("INSERT INTO erasures (account_id, kind, subject, created_at) VALUES (?, 'customer', ?, 1)")
      .bind(accountId, CUSTOMER),
    accountsD1
      .prepare("INSERT INTO feed (account_id, kind, ref, created_at) VALUES (?, 'account', 'x', 1)")
      .bind(accountId),
  ]);
  return license;
};
