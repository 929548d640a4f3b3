import { userTokens } from '../../src/db/schema.ts';
import { newUserToken } from '../../src/users/user-tokens.ts';
import { subscribe } from '../billing/sandbox.ts';
import { openShop, paid } from '../stores/shop.ts';
import { codeAt } from '../support/authenticator.ts';
import type { Customer, Json } from '../support/client.ts';
import { publicCtx } from '../support/databases.ts';
import { newReceiver } from '../support/receiver.ts';
import { addSession, verifyAddress } from '../support/sign-in.ts';
import { enableTwoFactor } from '../support/two-factor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { Values } from './area.ts';

type SetUp = (ada: Customer) => Promise<Values>;

const TERMS = { max_activations: 2, offline_days: 14, entitlements: { export: true } };
const LAPTOP = { fingerprint: '5f1c0f9e-laptop', name: 'Grace’s laptop', platform: 'macos' };

const createOrFail = async ({ asSession }: Customer, path: string, fields: object): Promise<Json> => {
  const { status, body } = await asSession('POST', path, fields);
  if (status >= 300) throw new Error(`POST ${path} answered ${JSON.stringify(body)}`);
  return body;
};

/** A seller of two products, with a license that a machine uses. */
const shop: SetUp = async (ada) => {
  const create = (fields: object) => createOrFail(ada, '/api/v1/licenses/create', fields);
  const plain = await create({});
  await ada.asSession('PUT', '/api/v1/products/orrery', { name: 'Orrery', terms: TERMS });
  await ada.asSession('PUT', '/api/v1/products/orrery-trial', { name: 'Orrery trial', terms: {} });
  const full = await create({ product: 'orrery', terms: { max_activations: 1 } });
  const suspended = await create({ product: 'orrery' });
  await ada.asSession('POST', `/api/v1/licenses/${suspended.id}/suspend`);
  const license = await create({
    product: 'orrery',
    customer_email: 'grace@example.com',
    customer_name: 'Grace Hopper',
    duration_days: 365,
    metadata: { order: '1001' },
  });
  const key = await createOrFail(ada, '/api/create-api-key', { name: 'Orrery', scope: 'verify' });
  const seatOf = async (licenseKey: string): Promise<string> => {
    const { body } = await ada.asKey('POST', '/api/v1/licenses/activate', {
      license_key: licenseKey,
      ...LAPTOP,
    });
    return body.activation.id;
  };
  await seatOf(full.license_key);
  return {
    email: ada.email,
    password: ada.password,
    account: ada.accountId,
    license: license.id,
    license_key: license.license_key,
    plain_key: plain.license_key,
    full_key: full.license_key,
    suspended: suspended.id,
    activation: await seatOf(license.license_key),
    key: key.id,
  };
};

const portal: SetUp = async (ada) => {
  const values = await shop(ada);
  const slug = `orrery-${crypto.randomUUID().slice(0, 8)}`;
  await ada.asSession('PUT', '/api/portal', { enabled: true, slug, name: 'Orrery Software' });
  return values;
};

const webhook: SetUp = async (ada) => {
  const receiver = await newReceiver();
  const { id } = await createOrFail(ada, '/api/webhooks', { url: receiver.url });
  const { body: delivery } = await ada.asSession('POST', `/api/webhooks/${id}/test`);
  const deliveries = async (): Promise<Json[]> =>
    (await ada.asSession('GET', `/api/webhooks/${id}/deliveries`)).body.data;
  // The receiver has the event before its attempt is noted.
  await waitUntil(deliveries, ([sent]) => sent?.attempts.length === 1);
  return { url: receiver.url, webhook: id, delivery: delivery.id };
};

/** A seller with a store, a purchase that has a license, and one that no offer is for. */
const store: SetUp = async (ada) => {
  await ada.asSession('PUT', '/api/v1/products/orrery', { name: 'Orrery', terms: TERMS });
  const { storeId, offer, notify, purchases } = await openShop({ name: 'Orrery shop' }, ada);
  await offer('orrery', { product: 'orrery', grant: 'perpetual' });
  const buyer = { email: 'grace@example.com', name: 'Grace Hopper' };
  await notify(paid('1001', { ...buyer, offer: 'orrery', amount: 4900, currency: 'usd' }));
  await notify(paid('1002', { ...buyer, offer: 'orrery-extra' }));
  const [unmapped, purchase] = await purchases();
  return { store: storeId, purchase: purchase.id, unmapped: unmapped.id };
};

const verifiedStore: SetUp = async (ada) => {
  await verifyAddress(ada.accountId);
  return store(ada);
};

const person: SetUp = async ({ accountId, email, password, asSession }) => {
  const tokenFor = async (purpose: 'reset_password' | 'verify_email' | 'restore_email') => {
    const { token, row } = newUserToken(publicCtx, accountId, purpose, email);
    await publicCtx.firstDb.insert(userTokens).values(row);
    return token;
  };
  await addSession(accountId);
  const sessions: Json[] = (await asSession('GET', '/api/sessions')).body.data;
  return {
    email,
    password,
    session: sessions.find(({ current }) => !current).id,
    reset_token: await tokenFor('reset_password'),
    verify_token: await tokenFor('verify_email'),
    restore_token: await tokenFor('restore_email'),
  };
};

const twoFactorSetUp: SetUp = async ({ asSession }) => {
  const { secret } = (await asSession('POST', '/api/two-factor')).body;
  return { code: codeAt(secret, Date.now()) };
};

const twoFactor: SetUp = async (ada) => {
  const { code, recoveryCodes, challenge } = await enableTwoFactor(ada);
  // A code works once.
  return {
    password: ada.password,
    code: code(1),
    recovery_code: recoveryCodes[0] ?? '',
    challenge: await challenge(),
  };
};

const subscribed: SetUp = async (ada) => {
  await subscribe(ada, 'pro');
  return {};
};

const canceled: SetUp = async (ada) => {
  await subscribed(ada);
  await createOrFail(ada, '/api/cancel-subscription', {});
  return {};
};

const BY_OPERATION: Record<string, SetUp> = {
  ...Object.fromEntries(
    [
      'listWebhooks',
      'createWebhook',
      'revealWebhook',
      'patchWebhook',
      'deleteWebhook',
      'rotateWebhookSecret',
      'testWebhook',
      'listDeliveries',
      'replayWebhook',
      'resendDelivery',
    ].map((operation) => [operation, webhook]),
  ),
  createPortalSession: portal,
  ...Object.fromEntries(
    [
      'createStore',
      'listStores',
      'getStore',
      'patchStore',
      'deleteStore',
      'putOffer',
      'getOffer',
      'listOffers',
      'deleteOffer',
      'listPurchases',
      'getPurchase',
      'retryPurchase',
      'assignPurchase',
      'resendPurchaseMail',
      'patchProductMail',
      'getProductMail',
      'previewProductMail',
    ].map((operation) => [operation, store]),
  ),
  testProductMail: verifiedStore,
  resetPassword: person,
  verifyEmail: person,
  restoreEmail: person,
  listSessions: person,
  endOtherSessions: person,
  endSession: person,
  confirmTwoFactor: twoFactorSetUp,
  disableTwoFactor: twoFactor,
  replaceRecoveryCodes: twoFactor,
  loginTwoFactor: twoFactor,
  getBilling: subscribed,
  cancelSubscription: subscribed,
  resumeSubscription: canceled,
};

/** Makes a new account what the example of an operation needs, and returns the values of its placeholders. */
export const setUpFor = (operation: string): SetUp => BY_OPERATION[operation] ?? shop;
