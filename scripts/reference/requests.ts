// One request or more of each operation, as a seller or an application sends it. A test sends them all to the service, and
// `npm run examples` keeps what it answered in answers.json. A placeholder such as `{license}` is filled in with the values
// of a test's account, and in the reference with those that were kept.

export interface ExampleRequest {
  operation: string;
  /** Only where an operation has several. */
  title?: string;
  /** The values of the path's parameters, in their order. */
  path?: string[];
  query?: string;
  headers?: Record<string, string>;
  /** Text is sent as it is. */
  body?: unknown;
  /** Sent with a session, though an API key might do. */
  bySession?: true;
}

const LICENSE = ['{license}'];
const MACHINE = { license_key: '{license_key}', fingerprint: '5f1c0f9e-laptop' };

const APPLICATIONS: ExampleRequest[] = [
  {
    operation: 'verifyLicense',
    title: 'From a machine',
    body: { ...MACHINE, product: 'orrery', app_version: '2.4.0', nonce: 'b7c1d9a40e52f638' },
  },
  { operation: 'verifyLicense', title: 'A license without terms', body: { license_key: '{plain_key}' } },
  {
    operation: 'activateLicense',
    title: 'A seat is free',
    body: { ...MACHINE, name: 'Grace’s laptop', platform: 'macos', app_version: '2.4.0' },
  },
  {
    operation: 'activateLicense',
    title: 'All seats are taken',
    body: { license_key: '{full_key}', fingerprint: 'c2d07a41-studio', name: 'Studio' },
  },
  { operation: 'sendHeartbeat', body: MACHINE },
  { operation: 'deactivateLicense', body: MACHINE },
  { operation: 'listActivations', path: LICENSE },
  { operation: 'listSeatHistory', path: LICENSE },
  { operation: 'releaseActivation', path: ['{license}', '{activation}'] },
  { operation: 'issueOfflineToken', path: LICENSE, body: { fingerprint: '5f1c0f9e-laptop', days: 90 } },
  { operation: 'getKeySet', path: ['{account}'] },
];

const LICENSES: ExampleRequest[] = [
  {
    operation: 'createLicense',
    headers: { 'idempotency-key': 'order-1002' },
    body: {
      product: 'orrery',
      customer_email: 'katherine@example.com',
      customer_name: 'Katherine Johnson',
      duration_days: 365,
      metadata: { order: '1002' },
    },
  },
  { operation: 'listLicenses', query: 'product=orrery&status=active&limit=1' },
  { operation: 'listCustomers', query: 'q=grace' },
  { operation: 'getLicense', path: LICENSE },
  { operation: 'getLicenseHistory', path: LICENSE },
  {
    operation: 'patchLicense',
    path: LICENSE,
    body: { customer_company: 'Harbor Works', terms: { max_activations: 5 } },
  },
  { operation: 'renewLicense', path: LICENSE, body: { duration_days: 365 } },
  { operation: 'suspendLicense', path: LICENSE, body: { reason: 'The payment was disputed' } },
  { operation: 'reinstateLicense', path: ['{suspended}'], body: { reason: 'The dispute was won' } },
  { operation: 'revokeLicense', path: LICENSE, body: { reason: 'Refunded' } },
  { operation: 'rotateLicenseKey', path: LICENSE },
  { operation: 'deleteLicense', path: LICENSE },
  {
    operation: 'importLicenses',
    headers: { 'content-type': 'text/csv' },
    body: 'license_key,customer_email,product,expires_at\nORRERY-0001,mary@example.com,orrery,2099-12-31\n',
  },
  { operation: 'eraseCustomer', body: { customer_email: 'grace@example.com' }, bySession: true },
];

const PRODUCTS: ExampleRequest[] = [
  { operation: 'listProducts' },
  {
    operation: 'putProduct',
    path: ['orrery-pro'],
    body: {
      name: 'Orrery Pro',
      terms: { max_activations: 3, offline_days: 30, duration_days: 365, entitlements: { export: true } },
    },
  },
  { operation: 'getProduct', path: ['orrery'] },
  { operation: 'deleteProduct', path: ['orrery-trial'] },
];

const WEBHOOK = ['{webhook}'];
const SINCE = '2026-11-01T00:00:00Z';

const WEBHOOKS: ExampleRequest[] = [
  { operation: 'listWebhooks' },
  {
    operation: 'createWebhook',
    body: { url: '{url}', events: ['license.created', 'license.expired'], description: 'The shop' },
  },
  { operation: 'revealWebhook', path: WEBHOOK },
  { operation: 'patchWebhook', path: WEBHOOK, body: { events: ['license.created'] } },
  { operation: 'deleteWebhook', path: WEBHOOK },
  { operation: 'rotateWebhookSecret', path: WEBHOOK },
  { operation: 'testWebhook', path: WEBHOOK },
  { operation: 'listDeliveries', path: WEBHOOK },
  { operation: 'replayWebhook', path: WEBHOOK, body: { since: SINCE, events: ['license.created'] } },
  { operation: 'resendDelivery', path: ['{webhook}', '{delivery}'] },
  { operation: 'listenForEvents' },
];

const API_KEYS: ExampleRequest[] = [
  { operation: 'listApiKeys', query: 'limit=1' },
  { operation: 'createApiKey', body: { name: 'Orrery 2', scope: 'verify' } },
  { operation: 'revealApiKey', path: ['{key}'], bySession: true },
  { operation: 'rotateApiKey', path: ['{key}'], body: { overlap_hours: 24 } },
  { operation: 'deleteApiKey', path: ['{key}'] },
];

const PORTAL: ExampleRequest[] = [
  { operation: 'getPortal' },
  {
    operation: 'putPortal',
    body: {
      enabled: true,
      slug: 'orrery-software',
      name: 'Orrery Software',
      accent_color: '#2563eb',
      support_url: 'https://example.com/help',
      allow: { rotate_key: true },
    },
  },
  {
    operation: 'createPortalSession',
    body: { license_id: '{license}', return_url: 'https://example.com/settings' },
  },
];

const bySession = (requests: ExampleRequest[]) =>
  requests.map((request): ExampleRequest => ({ ...request, bySession: true }));

const PASSWORD = { current_password: '{password}' };

const ACCOUNT = bySession([
  { operation: 'register', body: { email: 'new@example.com', password: 'correct horse battery' } },
  { operation: 'login', body: { email: '{email}', password: '{password}' } },
  { operation: 'loginTwoFactor', body: { challenge: '{challenge}', code: '{recovery_code}' } },
  { operation: 'reauthenticate', body: { password: '{password}' } },
  { operation: 'logout' },
  { operation: 'getAccount' },
  { operation: 'patchAccount', body: { name: 'Ada', allowed_origins: ['https://shop.example.com'] } },
  { operation: 'listAuditLog', query: 'action=license.create' },
  { operation: 'changePassword', body: { ...PASSWORD, password: 'another horse battery' } },
  { operation: 'forgotPassword', body: { email: '{email}' } },
  { operation: 'resetPassword', body: { token: '{reset_token}', password: 'another horse battery' } },
  { operation: 'verifyEmail', body: { token: '{verify_token}', password: '{password}' } },
  { operation: 'restoreEmail', body: { token: '{restore_token}' } },
  { operation: 'resendVerification' },
  { operation: 'changeEmail', body: { email: 'ada@new.example.com', ...PASSWORD } },
  { operation: 'eraseAccount', body: { ...PASSWORD, confirm: '{email}' } },
  { operation: 'listSessions' },
  { operation: 'endOtherSessions' },
  { operation: 'endSession', path: ['{session}'] },
  { operation: 'startTwoFactor' },
  { operation: 'confirmTwoFactor', body: { code: '{code}' } },
  { operation: 'replaceRecoveryCodes', body: { ...PASSWORD, code: '{code}' } },
  { operation: 'disableTwoFactor', body: { ...PASSWORD, code: '{code}' } },
  { operation: 'getRegions' },
  { operation: 'moveHome', body: { region: 'oc' } },
  { operation: 'exportAccount' },
]);

const BILLING = bySession([
  { operation: 'getBilling' },
  { operation: 'initPayment', body: { plan: 'pro' } },
  { operation: 'cancelSubscription', body: { at: 'period_end' } },
  { operation: 'resumeSubscription' },
  { operation: 'openBillingPortal' },
]);

const DASHBOARD: ExampleRequest[] = [
  { operation: 'getDashboard' },
  { operation: 'getDeveloperProgress' },
  { operation: 'getOnboarding' },
];

const STORES: ExampleRequest[] = [
  {
    operation: 'createStore',
    body: { provider: 'generic', name: 'Orrery shop', secret: 'whsec_b3JyZXJ5LW9ycmVyeS1vcnJlcnk=' },
  },
  { operation: 'listStores' },
  { operation: 'getStore', path: ['{store}'] },
  { operation: 'patchStore', path: ['{store}'], body: { name: 'The Orrery shop' } },
  {
    operation: 'putOffer',
    path: ['{store}', 'orrery-yearly'],
    body: { product: 'orrery', grant: 'subscription', quantity: 'seats' },
  },
  { operation: 'getOffer', path: ['{store}', 'orrery'] },
  { operation: 'listOffers', path: ['{store}'] },
  {
    operation: 'patchProductMail',
    path: ['orrery'],
    body: { intro: 'Open Orrery, choose “Enter license key”, and paste it.' },
  },
  { operation: 'getProductMail', path: ['orrery'] },
  { operation: 'previewProductMail', path: ['orrery'], body: { from_name: 'Orrery Software' } },
  { operation: 'testProductMail', path: ['orrery'], body: {} },
  { operation: 'listPurchases', query: 'q=1001' },
  { operation: 'getPurchase', path: ['{purchase}'] },
  { operation: 'retryPurchase', path: ['{purchase}'] },
  { operation: 'assignPurchase', path: ['{unmapped}'], body: { product: 'orrery' } },
  { operation: 'resendPurchaseMail', path: ['{purchase}'] },
  { operation: 'deleteOffer', path: ['{store}', 'orrery'] },
  { operation: 'deleteStore', path: ['{store}'] },
];

export const REQUESTS: ExampleRequest[] = [
  ...APPLICATIONS,
  ...LICENSES,
  ...PRODUCTS,
  ...WEBHOOKS,
  ...STORES,
  ...API_KEYS,
  ...PORTAL,
  ...ACCOUNT,
  ...BILLING,
  ...DASHBOARD,
  { operation: 'getHealth' },
];

/** What only a provider of payments calls. */
export const UNCALLED = ['stripeNotification', 'sandboxNotification'];

/** The name of an example, in answers.json and in the document. */
export const nameOf = ({ operation, title }: ExampleRequest): string =>
  title === undefined ? operation : `${operation}: ${title}`;
