import { expect, test } from 'vitest';
import { byField, LICENSE_FIELDS, PERSONAL_FIELDS } from '../../src/shared/rules/license-fields.ts';
import { notify, paid, SECRET } from '../stores/shop.ts';
import type { Customer, Json } from '../support/client.ts';
import { findLeftovers } from '../support/leftovers.ts';
import { openApi, operationAt, OPERATIONS } from '../support/openapi.ts';
import { addEndpoint } from '../support/outbox.ts';
import { openPortal, signInByApplication } from '../support/portal.ts';
import { newReceiver } from '../support/receiver.ts';
import { verifyAddress } from '../support/sign-in.ts';
import { waitUntil } from '../support/wait-until.ts';
import { sellerOn } from '../support/worlds.ts';
import { importAs, toLines } from '../transfer/transfer.ts';

// Writes a person into every text that a route takes, by the schemas of the OpenAPI document, so that a new field is covered.

const ADDRESS = 'grace@hopper.example';
const NAME = 'Grace Hopper';
/** What a license says of the person beside their address and name. */
const OTHERS = byField(
  PERSONAL_FIELDS.filter((field) => field !== 'customer_name'),
  (field) => LICENSE_FIELDS[field].example,
);
const PERSON: Record<string, string> = { customer_email: ADDRESS, customer_name: NAME, ...OTHERS };
/** For licenses and machines. */
const OF_PERSON = `GRACE  hopper (${Object.values(OTHERS).join(', ')}), Grace@Hopper.example`;
/** For products, API keys, and endpoints, in which only an address is looked for. */
const OF_SELLER = 'As Grace@Hopper.example wants it';

/** Texts that stay: what finds, proves, or compares something, and where something is sent. */
const KEPT = ['license_key', 'fingerprint', 'nonce', 'replace', 'url'];

/** Routes whose texts are about the seller, who isn't a customer, or that are no one's name. */
const OF_ACCOUNT = [
  'register',
  'login',
  'login/two-factor',
  'reauthenticate',
  'account',
  'change-password',
  'change-email',
  'forgot-password',
  'reset-password',
  'verify-email',
  'restore-email',
  'two-factor',
  'two-factor/confirm',
  'two-factor/recovery-codes',
  'home-region',
  'init-payment',
  'erase-customer',
  'portal',
].map((path) => `/api/${path}`);

interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | false;
  items?: Schema;
}

const resolve = (schema: Schema): Schema =>
  schema.$ref ? (openApi.components.schemas[schema.$ref.split('/').at(-1) ?? ''] as Schema) : schema;

/** Returns a value that has the text wherever the schema has room for one, or undefined. */
const fill = (given: Schema, text: string, field = ''): unknown => {
  const schema = resolve(given);
  if (schema.anyOf)
    return schema.anyOf.map((option) => fill(option, text, field)).find((value) => value !== undefined);
  if (schema.properties) {
    const fields = Object.entries(schema.properties).map(([name, own]) => [name, fill(own, text, name)]);
    return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  }
  if (schema.additionalProperties) return { [text]: fill(schema.additionalProperties, text), size: 3 };
  if (schema.items) return undefined;
  const isFree = [schema.type].flat().includes('string') && !schema.enum && schema.const === undefined;
  if (!isFree || KEPT.includes(field) || schema.format?.startsWith('date')) return undefined;
  return PERSON[field] ?? text;
};

const bodyOf = (method: string, path: string, text: string): Record<string, unknown> => {
  const content = operationAt(method, path).operation.requestBody?.content;
  return (fill(content?.['application/json']?.schema ?? {}, text) ?? {}) as Record<string, unknown>;
};

const hasTexts = (method: string, path: string) =>
  JSON.stringify(bodyOf(method, path, OF_PERSON)).includes('opper') || path.endsWith('/import');

/** Calls with the person in every text. Notes the operations. */
const openWriter = (ada: Customer) => {
  const called = new Set<string>();
  let calls = 0;
  return {
    called,
    write: async (method: string, path: string, text: string, fields: object = {}): Promise<Json> => {
      called.add(`${method} ${operationAt(method, path).path}`);
      const body = { ...bodyOf(method, path, text), ...fields };
      const takesClaim = operationAt(method, path).operation.parameters.some(
        ({ name }) => name.toLowerCase() === 'idempotency-key',
      );
      const claim: Record<string, string> = takesClaim
        ? { 'idempotency-key': `${text === OF_SELLER ? ADDRESS : 'order-of-Grace.Hopper'}-${++calls}` }
        : {};
      const isApplication =
        path.startsWith('/api/v1/licenses/') && !path.includes('lic_') && !path.endsWith('create');
      const caller = isApplication ? ada.asKey : ada.asSession;
      const answer = await caller(method, path, body, claim);
      expect([path, answer.status < 300, answer.body]).toEqual([path, true, expect.anything()]);
      return answer.body;
    },
  };
};

const license = (id: string, action = '') => `/api/v1/licenses/${id}${action}`;

/** Lets the person buy something. */
const sellInStore = async (ada: Customer, write: ReturnType<typeof openWriter>['write']) => {
  const own = { provider: 'generic', secret: SECRET, api_key: undefined };
  const store = await write('POST', '/api/stores', OF_SELLER, own);
  await write('PATCH', `/api/stores/${store.id}`, OF_SELLER, { ...own, provider: undefined });
  const offer = { product: 'mill', grant: 'perpetual', days: null };
  await write('PUT', `/api/stores/${store.id}/offers/pro`, OF_SELLER, offer);
  const words = { support_url: null };
  await write('PATCH', '/api/v1/products/mill/mail', OF_SELLER, words);
  for (const way of ['preview', 'test'])
    await write('POST', `/api/v1/products/mill/mail/${way}`, OF_SELLER, words);
  const buyer = { email: ADDRESS, name: NAME };
  const bodies = [paid('1', buyer), paid('2', { ...buyer, offer: 'other' }), { type: 'paid', ...buyer }];
  for (const body of bodies) await notify(store.id, body);
  const { body } = await ada.asSession('GET', '/api/purchases?status=unmapped');
  await write('POST', `/api/purchases/${body.data[0].id}/assign`, OF_SELLER, { product: 'mill' });
};

/** Writes the person wherever they can be written. Returns the operations, and the person's licenses. */
const writeEverywhere = async (ada: Customer) => {
  const { called, write } = openWriter(ada);
  const receiver = await newReceiver({ status: 200, echoes: true });
  const endpoint = await addEndpoint(ada, receiver.url);
  await write('POST', '/api/webhooks', OF_SELLER, { url: receiver.url });
  await write('PATCH', `/api/webhooks/${endpoint.id}`, OF_SELLER);
  await write('POST', '/api/create-api-key', OF_SELLER);
  const created = await write('POST', '/api/v1/licenses/create', OF_PERSON);
  const other = await ada.createLicense({ customer_email: 'bob@hopper.example', customer_name: 'Bob' });
  const patched = await ada.createLicense({ customer_email: 'bob@hopper.example' });
  await write('PATCH', license(patched.id), OF_PERSON);
  await write('PATCH', license(other.id), OF_PERSON, {
    ...byField(PERSONAL_FIELDS, () => null),
    customer_email: 'bob@hopper.example',
    customer_name: 'Bob',
  });
  for (const { id, license_key } of [created, patched]) {
    for (const name of ['verify', 'activate', 'heartbeat', 'deactivate', 'activate'])
      await write('POST', `/api/v1/licenses/${name}`, OF_PERSON, { license_key, fingerprint: 'machine-1' });
    for (const action of ['suspend', 'reinstate']) await write('POST', license(id, `/${action}`), OF_PERSON);
  }
  await write('POST', license(patched.id, '/renew'), OF_PERSON, { duration_days: 30 });
  await write('POST', license(patched.id, '/rotate-key'), OF_PERSON);
  await write('POST', license(patched.id, '/revoke'), OF_PERSON);
  const line = bodyOf('POST', '/api/v1/licenses/create', OF_PERSON);
  called.add('POST /api/v1/licenses/import');
  expect(await importAs(ada, toLines([line]))).toMatchObject({ totals: { created: 1 } });
  await openPortal(ada);
  await verifyAddress(ada.accountId);
  // What a link of the application says about the customer, and a session, and a change of address.
  const link = await write('POST', '/api/v1/portal-sessions', OF_PERSON, {
    license_id: undefined,
    return_url: `https://app.example.com/?who=${ADDRESS}`,
  });
  expect(link.url).toContain('#token=');
  const slug = (await ada.asSession('GET', '/api/portal')).body.slug;
  const { asCustomer } = await signInByApplication(ada, slug, { customer_email: ADDRESS });
  await asCustomer('POST', '/change-email', { email: 'hopper@navy.example' });
  const bob = await signInByApplication(ada, slug, { customer_email: 'bob@hopper.example' });
  await bob.asCustomer('POST', '/change-email', { email: ADDRESS });
  await write('PUT', '/api/v1/products/mill', OF_SELLER);
  await sellInStore(ada, write);
  await waitUntil(
    endpoint.deliveries,
    (all) => all.length > 10 && all.every(({ status }) => status === 'delivered'),
  );
  return { called, created, other };
};

test('a customer whose address and names are in every text that can be written is nowhere afterwards', async () => {
  const ada = await sellerOn('scale');
  const { called, created, other } = await writeEverywhere(ada);
  const withTexts = OPERATIONS.filter(({ method, path }) => method !== 'GET' && hasTexts(method, path))
    .filter(({ path }) => !OF_ACCOUNT.includes(path))
    .map(({ method, path }) => `${method} ${path}`);
  expect(withTexts.filter((operation) => !called.has(operation))).toEqual([]);
  const texts = [...Object.values(PERSON), 'GRACE  hopper', 'Grace.Hopper'];
  expect(await findLeftovers(ada.accountId, texts)).toEqual(
    expect.arrayContaining([
      'D1: api_keys',
      'D1: idempotency_keys',
      'D1: license_changes',
      'D1: licenses',
      'D1: portal_email_changes',
      'D1: portal_sessions',
      'D1: portal_tokens',
      'D1: products',
      'D1: purchase_facts',
      'D1: purchases',
      'D1: stores',
      'gate 1: activations',
      'gate 1: seat_changes',
      'outbox: deliveries',
      'outbox: endpoints',
      'outbox: event_blocks',
    ]),
  );
  const erased = await ada.asSession('POST', '/api/erase-customer', { customer_email: ADDRESS });
  expect(erased.body).toMatchObject({ licenses: 6, activations: 2 });
  expect(await findLeftovers(ada.accountId, texts)).toEqual([]);

  expect((await ada.asSession('GET', license(created.id))).body).toMatchObject({
    status: 'active',
    customer_name: null,
    product: 'erased (erased), erased@customer.invalid',
    metadata: {
      'erased (erased), erased@customer.invalid': 'erased (erased), erased@customer.invalid',
      size: 3,
    },
    terms: { entitlements: { size: 3 } },
  });
  expect((await ada.asSession('GET', license(other.id))).body).toMatchObject({
    customer_email: 'bob@hopper.example',
    customer_name: 'Bob',
    product: 'erased (erased), erased@customer.invalid',
  });
  expect((await ada.verify(created.license_key)).body.valid).toBe(true);
});
