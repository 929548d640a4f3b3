// An account with data on every page of the dashboard.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { startedPaymentBody } from '../../../src/billing/schemas.ts';
import { purchaseListBody } from '../../../src/purchases/schemas.ts';
import { storeBody } from '../../../src/stores/schemas.ts';
import { type Customer, createAccount } from './customer.ts';
import type { Client } from './service.ts';
import { newShopSecret, report } from './shop.ts';

const CUSTOMERS = [
  ['Grace Hopper', 'grace@harborworks.example', 'Orrery-Studio', 'Harbor Works'],
  ['Katherine Johnson', 'katherine@langley.example', 'Orrery-Studio', 'Langley Labs'],
  ['Ada Lovelace', 'ada@analytical.example', 'Orrery', null],
  ['Annie Easley', 'annie@lewis.example', 'Tidewater', 'Lewis Engines'],
  ['Mary Jackson', 'mary@windtunnel.example', 'Tidewater', 'Wind Tunnel'],
  ['Hedy Lamarr', 'hedy@frequency.example', 'Orrery', null],
  ['Margaret Hamilton', 'margaret@guidance.example', 'Orrery-Studio', 'Guidance'],
  ['Radia Perlman', 'radia@spanning.example', 'Tidewater', 'Spanning Trees'],
] as const;

/** The customer of the license with machines. */
const DEMO_CUSTOMER = CUSTOMERS[3][1];

const LICENSES = 24;
const FLOATING = 'Tidewater';
const DELIVERY_TIMEOUT_MS = 120_000;

/** Opens a server that responds with the status at the end of the path, for instance 500 to `/hooks/500`. */
const openReceiver = async () => {
  const received = new Set<string>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      received.add(path).add(`${path} ${(JSON.parse(body) as { event: string }).event}`);
      const [, status = '200'] = /\/(\d{3})$/.exec(path) ?? [];
      response
        .writeHead(Number(status), { 'content-type': 'text/plain' })
        .end(status === '500' ? 'The queue behind this endpoint is full.' : 'ok');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (path: string) => `http://127.0.0.1:${port}${path}`,
    /** Waits for a request to a path, or for an event at a path. */
    waitFor: async (...expected: string[]) => {
      const deadlineMs = Date.now() + DELIVERY_TIMEOUT_MS;
      while (!expected.every((entry) => received.has(entry))) {
        if (Date.now() > deadlineMs) throw new Error(`The receiver got only ${[...received].join(', ')}.`);
        await delay(50);
      }
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

/** Pays for a plan through the sandbox's checkout form. */
const pay = async (service: Client, customer: Customer, plan: 'pro' | 'scale') => {
  const payment = startedPaymentBody.parse(await customer.post('/api/init-payment', { plan }));
  await fetch(payment.checkout_url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: service.origin },
    body: 'outcome=paid',
    redirect: 'manual',
  });
};

const addLicenses = async (customer: Customer) => {
  const licenses = [];
  for (let i = 0; i < LICENSES; i++) {
    const [name, email, product, company] = CUSTOMERS[i % CUSTOMERS.length] ?? CUSTOMERS[0];
    licenses.push(
      await customer.addLicense({
        customer_name: name,
        customer_company: company,
        customer_email: email,
        product,
        ...(i % 3 !== 0 && { duration_days: 30 * (i + 1) }),
        metadata: { seats: 5 + i, edition: i % 2 === 0 ? 'team' : 'solo', beta: i % 4 === 0 },
      }),
    );
  }
  return licenses;
};

const MACHINES = {
  '7c0e5b1f42d94a6b': { name: 'Annie’s workstation', platform: 'Windows 11', app_version: '4.2.0' },
  b83a90cc15f74e02: { name: 'Lab 3', platform: 'Ubuntu 24.04', app_version: '4.1.3' },
  '09d4f2ab6c1e8f35': { name: 'Annie’s laptop', platform: 'macOS 15.1', app_version: '4.2.0' },
  // Finds no seat.
  e51b7a20d94c3f68: { name: 'Lab 4', platform: 'Ubuntu 24.04', app_version: '4.1.3' },
};

const addProducts = async (customer: Customer) => {
  await customer.putProduct(FLOATING, {
    name: 'Tidewater for teams',
    terms: {
      max_activations: 3,
      lease_seconds: 7_200,
      offline_days: 7,
      self_service: true,
      entitlements: { export: true, projects: 25 },
    },
  });
  await customer.putProduct('Orrery', { terms: { updates_days: 365 } });
  await customer.putProduct('Orrery-Studio', { name: 'Orrery Studio', terms: {} });
};

/** Connects a shop that has sold, of which one purchase waits for its offer. */
const openShop = async (service: Client, customer: Customer) => {
  const secret = newShopSecret();
  const store = storeBody.parse(
    await customer.post('/api/stores', { provider: 'generic', name: 'Orrery shop', secret }),
  );
  await customer.put(`/api/stores/${store.id}/offers/orrery-yearly`, {
    product: 'Orrery',
    grant: 'subscription',
  });
  const sell = (order: string, fields: object) =>
    report(service, store.webhook_url, secret, {
      type: 'paid',
      order,
      amount: 4_900,
      currency: 'EUR',
      ...fields,
    });
  const period_end = new Date(Date.now() + 360 * 86_400_000).toISOString();
  await sell('10041', { offer: 'orrery-yearly', email: DEMO_CUSTOMER, name: 'Annie Easley', period_end });
  await sell('10042', { offer: 'orrery-lifetime', email: 'grace@example.com', name: 'Grace Hopper' });
  const { data } = purchaseListBody.parse(
    (await service.get('/api/purchases', { authorization: `Bearer ${customer.token}` })).body,
  );
  const fulfilled = data.find(({ status }) => status === 'fulfilled');
  if (!fulfilled) throw new Error('The shop’s purchase has no license.');
  return { storeId: store.id, purchaseId: fulfilled.id };
};

export const createDemoAccount = async (service: Client) => {
  const receiver = await openReceiver();
  const customer = await createAccount(service, 'ada');
  const production = await customer.addKey({ name: 'Production server' });
  await customer.addKey({ name: 'Desktop application', scope: 'verify' });
  await customer.addKey({ name: 'Conference demo', expires_at: '2099-01-01T00:00:00Z' });
  const healthy = await customer.addWebhook({ url: receiver.urlOf('/hooks/200'), description: 'CRM' });
  await customer.addWebhook({
    url: receiver.urlOf('/hooks/500'),
    description: 'Data warehouse',
    events: ['license.created', 'license.verified'],
  });
  await customer.addWebhook({ url: receiver.urlOf('/hooks/410'), description: 'Old staging server' });

  await addProducts(customer);
  const licenses = await addLicenses(customer);
  const [first, second, third, fourth] = licenses;
  if (!first || !second || !third || !fourth)
    throw new Error('The demo account needs at least four licenses.');
  for (const { license_key } of licenses.slice(0, 12)) await customer.verify(production.api_key, license_key);
  await customer.post(`/api/v1/licenses/${second.id}/suspend`, { reason: 'Chargeback' });
  await customer.post(`/api/v1/licenses/${third.id}/revoke`);
  for (const step of ['suspend', 'reinstate']) await customer.post(`/api/v1/licenses/${fourth.id}/${step}`);
  await customer.post(`/api/v1/licenses/${fourth.id}/renew`, { duration_days: 365 });
  for (const [fingerprint, machine] of Object.entries(MACHINES))
    await customer.activate(production.api_key, fourth.license_key, { fingerprint, ...machine });
  await pay(service, customer, 'pro');
  await receiver.waitFor('/hooks/200 payment.success', '/hooks/500', '/hooks/410');
  const shop = await openShop(service, customer);
  return { customer, licenses, activeLicense: fourth, healthy, ...shop, closeReceiver: receiver.close };
};

export type DemoAccount = Awaited<ReturnType<typeof createDemoAccount>>;

const pathsWith = (licenseId: string, webhookId: string, storeId: string, purchaseId: string) =>
  ({
    home: '/',
    licenses: '/licenses',
    'license-new': '/licenses?create=true',
    license: `/licenses/${licenseId}`,
    'license-import': '/licenses/import',
    customers: '/customers',
    customer: `/customers/${DEMO_CUSTOMER}`,
    products: '/products',
    'product-new': '/products?create=true',
    product: `/products/${FLOATING}`,
    purchases: '/purchases',
    purchase: `/purchases/${purchaseId}`,
    stores: '/stores',
    'store-new': '/stores?create=true',
    store: `/stores/${storeId}`,
    keys: '/keys',
    'key-new': '/keys?create=true',
    webhooks: '/webhooks',
    'webhook-new': '/webhooks?create=true',
    webhook: `/webhooks/${webhookId}`,
    'webhook-settings': `/webhooks/${webhookId}?tab=settings`,
    billing: '/billing',
    settings: '/settings',
    'settings-password': '/settings/password',
    'settings-two-factor': '/settings/two-factor',
    'settings-sessions': '/settings/sessions',
    'settings-portal': '/settings/portal',
    'settings-regions': '/settings/regions',
    'settings-audit-log': '/settings/audit-log',
    'settings-export': '/settings/export',
    'settings-delete': '/settings/delete',
    'not-found': '/no/such/page',
  }) as const;

/** The names of all pages, which are valid as file names. */
export const PAGES = Object.keys(pathsWith('', '', '', '')) as (keyof ReturnType<typeof pathsWith>)[];

/** Returns the path of every page by name. */
export const pagesOf = ({ activeLicense, healthy, storeId, purchaseId }: DemoAccount) =>
  pathsWith(activeLicense.id, healthy.id, storeId, purchaseId);
