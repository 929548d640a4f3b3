// An account in the midst of its life: something of everything that the dashboard can show.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { startedPaymentBody } from '../../../src/billing/schemas.ts';
import { type Customer, openAccount } from './customer.ts';
import type { Client } from './service.ts';

const CUSTOMERS = [
  ['Grace Hopper', 'grace@harborworks.example', 'Orrery Studio'],
  ['Katherine Johnson', 'katherine@langley.example', 'Orrery Studio'],
  ['Ada Lovelace', 'ada@analytical.example', 'Orrery'],
  ['Annie Easley', 'annie@lewis.example', 'Tidewater'],
  ['Mary Jackson', 'mary@windtunnel.example', 'Tidewater'],
  ['Hedy Lamarr', 'hedy@frequency.example', 'Orrery'],
  ['Margaret Hamilton', 'margaret@guidance.example', 'Orrery Studio'],
  ['Radia Perlman', 'radia@spanning.example', 'Tidewater'],
] as const;

const LICENSES = 24;

/** Answers each path with the status that it names, such as /500. */
const openReceiver = async () => {
  const server = createServer((request, response) => {
    request.resume();
    const [, status = '200'] = /\/(\d{3})$/.exec(request.url ?? '') ?? [];
    response
      .writeHead(Number(status), { 'content-type': 'text/plain' })
      .end(status === '500' ? 'The queue behind this endpoint is full.' : 'ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (path: string) => `http://127.0.0.1:${port}${path}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

/** Through the sandbox's checkout, as a browser would. */
export const pay = async (service: Client, customer: Customer, plan: 'pro' | 'scale') => {
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
    const [name, email, product] = CUSTOMERS[i % CUSTOMERS.length] ?? CUSTOMERS[0];
    licenses.push(
      await customer.addLicense({
        customer_name: name,
        customer_email: email,
        product,
        ...(i % 3 !== 0 && { duration_days: 30 * (i + 1) }),
        metadata: { seats: 5 + i, edition: i % 2 === 0 ? 'team' : 'solo', beta: i % 4 === 0 },
      }),
    );
  }
  return licenses;
};

export const setStage = async (service: Client) => {
  const receiver = await openReceiver();
  const customer = await openAccount(service, 'ada');
  const production = await customer.addKey({ name: 'Production server' });
  await customer.addKey({ name: 'Desktop application', scope: 'verify' });
  await customer.addKey({ name: 'Conference demo', expires_at: '2099-01-01T00:00:00Z' });
  const healthy = await customer.addWebhook({ url: receiver.urlOf('/hooks/200'), description: 'CRM' });
  const failing = await customer.addWebhook({
    url: receiver.urlOf('/hooks/500'),
    description: 'Data warehouse',
    events: ['license.created', 'license.verified'],
  });
  await customer.addWebhook({ url: receiver.urlOf('/hooks/410'), description: 'Old staging server' });

  const licenses = await addLicenses(customer);
  const [first, second, third, fourth] = licenses;
  if (!first || !second || !third || !fourth) throw new Error('There are fewer licenses than expected.');
  for (const { license_key } of licenses.slice(0, 12)) await customer.verify(production.api_key, license_key);
  await customer.post(`/api/v1/licenses/${second.id}/suspend`);
  await customer.post(`/api/v1/licenses/${third.id}/revoke`);
  for (const step of ['suspend', 'reinstate']) await customer.post(`/api/v1/licenses/${fourth.id}/${step}`);
  await customer.post(`/api/v1/licenses/${fourth.id}/renew`, { duration_days: 365 });
  await pay(service, customer, 'pro');
  await delay(2_000);
  return { customer, licenses, activeLicense: fourth, healthy, failing, closeReceiver: receiver.close };
};

export type Stage = Awaited<ReturnType<typeof setStage>>;

/** Every page, by a name that a file may have. */
export const pagesOf = ({ activeLicense, healthy }: Stage) =>
  ({
    home: '/',
    licenses: '/licenses',
    'license-new': '/licenses?create=true',
    license: `/licenses/${activeLicense.id}`,
    keys: '/keys',
    'key-new': '/keys?create=true',
    webhooks: '/webhooks',
    'webhook-new': '/webhooks?create=true',
    webhook: `/webhooks/${healthy.id}`,
    'webhook-settings': `/webhooks/${healthy.id}?tab=settings`,
    billing: '/billing',
    nothing: '/no/such/page',
  }) as const;
