// What a free account, and strangers without one, can send to harm others.
import { randomBytes, randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { Client } from '../e2e/support/service.ts';
import { addKey, expectOk, signUp } from './customer.ts';

export interface Attack {
  name: string;
  /** Makes one call, and returns how it was answered. */
  call: () => Promise<string>;
}

export interface Attacks {
  account: Attack[];
  strangers: Attack[];
  /** Many connections that send what one stranger sends as well: bodies to a store of the account, which nobody has signed. */
  forgers: Attack[];
}

const BODY_BYTES = 5 * 1024 * 1024;
const LICENSES = 1_200;
const METADATA = { note: 'x'.repeat(4_000) };
const ENTITLEMENTS = { note: 'x'.repeat(1_900) };
const ADDRESSES = 1_000;
const FORGERS = 32;
const SECRET = `whsec_${randomBytes(24).toString('base64')}`;
const FORGED_LARGE = 'x'.repeat(1024 * 1024);
const FORGED = JSON.stringify({ type: 'paid', order: '1', offer: 'pro', email: 'grace@example.com' });

const text = (type: string, body: string, headers: Record<string, string>) => ({
  method: 'POST',
  headers: { 'content-type': type, ...headers },
  body,
});

const customerOf = (turn: number) => `customer-${turn}@example.com`;

/** Each license of an import gets other metadata and another customer each time, so each line is a change. */
const linesWith = (turn: number) =>
  Array.from({ length: LICENSES }, (_, i) =>
    JSON.stringify({
      license_key: `WORST-${i}`,
      customer_email: customerOf(turn),
      metadata: { ...METADATA, turn },
    }),
  )
    .join('\n')
    .slice(0, BODY_BYTES);

type Calls = Record<string, () => Promise<string>>;

const attacksOf = (calls: Calls): Attack[] => Object.entries(calls).map(([name, call]) => ({ name, call }));

/** Prepares the attacks of one account, and those of strangers from many addresses. */
export const openAttacks = async (service: Client, email: string): Promise<Attacks> => {
  const { session, apiKey } = await addKey(service, await signUp(service, email));
  const { id: endpoint } = expectOk(
    await service.post('/api/webhooks', { url: 'https://example.com/hook' }, session),
  ) as { id: string };
  const { id: license } = expectOk(await service.post('/api/v1/licenses/create', {}, session)) as {
    id: string;
  };
  const { id: store } = expectOk(
    await service.post('/api/stores', { provider: 'generic', name: 'Shop', secret: SECRET }, session),
  ) as { id: string };
  let turn = 0;
  let [imports, imported] = [0, 0];
  const fromAnywhere = () => ({ 'cf-connecting-ip': `2001:db8:${(turn++ % ADDRESSES).toString(16)}::1` });

  const send = async (path: string, init: RequestInit): Promise<string> => {
    const response = await fetch(service.origin + path, init);
    // A stream is read to its end, as a client would.
    const length = (await response.text()).length;
    return length > 1024 * 1024 ? `${response.status} with over 1 MiB` : String(response.status);
  };
  const post = (path: string, body: unknown, headers: Record<string, string> = session) =>
    send(path, text('application/json', JSON.stringify(body), headers));
  const get = (path: string, headers: Record<string, string> = session) => send(path, { headers });
  const importOf = (type: string, body: string, query: string) =>
    send(`/api/v1/licenses/import?${query}`, text(type, body, session));
  const forgeTo = (body: string) =>
    send(
      `/hooks/${store}`,
      text('application/json', body, {
        ...fromAnywhere(),
        'webhook-id': randomUUID(),
        'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
        'webhook-signature': `v1,${btoa(randomUUID().slice(0, 32))}`,
      }),
    );
  const signer = new Webhook(SECRET);
  const sendSigned = (body: string) => {
    const [id, at] = [randomUUID(), new Date()];
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': signer.sign(id, at, body),
    };
    return send(`/hooks/${store}`, text('application/json', body, headers));
  };
  const [commas, shortLines] = [','.repeat(BODY_BYTES), '1\n'.repeat(BODY_BYTES / 2)];

  const account: Calls = {
    'imports updates of metadata': async () => {
      const customer = imports++;
      const outcome = await importOf('application/x-ndjson', linesWith(customer), 'on_conflict=update');
      if (outcome.startsWith('200')) imported = customer;
      return outcome;
    },
    'imports a header of commas': () => importOf('text/csv', commas, 'dry_run=true'),
    'imports lines of two characters': () => importOf('text/csv', shortLines, 'dry_run=true'),
    'exports everything': () => get('/api/export'),
    'creates licenses with a session': () => post('/api/v1/licenses/create', { metadata: METADATA }),
    'creates licenses with a key': () => post('/api/v1/licenses/create', { metadata: METADATA }, apiKey),
    'renews a license': () => post(`/api/v1/licenses/${license}/renew`, { duration_days: 1 }),
    'searches licenses': () => get('/api/v1/licenses?q=xxx'),
    'verifies made-up keys': () =>
      post('/api/v1/licenses/verify', { license_key: randomUUID() }, { ...apiKey, ...fromAnywhere() }),
    'activates made-up machines': () =>
      post('/api/v1/licenses/activate', { license_key: 'WORST-1', fingerprint: randomUUID() }, apiKey),
    'creates API keys': () => post('/api/create-api-key', {}),
    'puts products': () =>
      send(`/api/v1/products/${randomUUID()}`, {
        ...text('application/json', JSON.stringify({ terms: { entitlements: ENTITLEMENTS } }), session),
        method: 'PUT',
      }),
    'rotates a webhook secret': () => post(`/api/webhooks/${endpoint}/rotate-secret`, {}),
    'reveals a webhook secret': () => get(`/api/webhooks/${endpoint}`),
    'sends test events': () => post(`/api/webhooks/${endpoint}/test`, {}),
    'starts checkouts': () =>
      post('/api/init-payment', { plan: 'pro', success_url: '/billing', cancel_url: '/billing' }),
    // All licenses have the customer of the last import, and their history has the others.
    'erases customers': () => post('/api/erase-customer', { customer_email: customerOf(imported) }),
    'sends signed bodies of 1 MiB to a store': () =>
      sendSigned(JSON.stringify({ type: 'paid', x: randomUUID() + 'x'.repeat(1024 * 1024 - 100) })),
    'opens the dashboard': () => get('/api/dashboard'),
    'reads the audit log': () => get('/api/audit-log?limit=100'),
  };
  const strangers: Calls = {
    'registers accounts': () =>
      post('/api/register', { email: `${randomUUID()}@example.com`, password: randomUUID() }, fromAnywhere()),
    'guesses passwords': () =>
      post('/api/login', { email: 'neighbor@example.com', password: randomUUID() }, fromAnywhere()),
    'asks for new passwords': () =>
      post('/api/forgot-password', { email: 'neighbor@example.com' }, fromAnywhere()),
    'asks for the keys of made-up accounts': () =>
      get(`/api/v1/jwks/acct_${randomUUID().replaceAll('-', '').slice(0, 20)}`, fromAnywhere()),
    'sends forged API keys': () =>
      post('/api/v1/licenses/verify', { license_key: 'x' }, { 'x-api-key': `lk_live_${'A'.repeat(73)}` }),
  };
  const forge = { 'sends forged bodies to a store': () => forgeTo(FORGED) };
  return {
    account: attacksOf(account),
    strangers: attacksOf({
      ...strangers,
      ...forge,
      'sends forged bodies of 1 MiB to a store': () => forgeTo(FORGED_LARGE),
    }),
    forgers: Array.from({ length: FORGERS }, () => attacksOf(forge)).flat(),
  };
};
