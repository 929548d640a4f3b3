import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { expect, test, vi } from 'vitest';
import { eraseCustomer } from '../../src/erasure/customer.ts';
import { AccountGate, WebhookOutbox } from '../../src/index.ts';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import type { Customer, Json } from '../support/client.ts';
import { ctxOf } from '../support/databases.ts';
import { finishErasure, runErasureAlarm } from '../support/erasing.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate } from '../support/gate.ts';
import { runHourly } from '../support/hourly.ts';
import { findLeftovers } from '../support/leftovers.ts';
import { gateIn, move } from '../support/moving.ts';
import { addEndpoint, outbox } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';
import { branch, openBranch, setHome, verifyIn } from '../support/regions.ts';
import { waitUntil } from '../support/wait-until.ts';
import { sellerOn } from '../support/worlds.ts';
import { importAs, toLines } from '../transfer/transfer.ts';

const GRACE = {
  customer_email: 'grace@hopper.example',
  customer_name: 'Grace Hopper',
  customer_company: 'Eckert–Mauchly',
};
const LATER = {
  customer_email: 'yolanda@later.example',
  customer_name: 'Yolanda Later',
  customer_company: 'Later & Sons',
};
const MACHINE = 'Mainframe of the admiral';
const ERASED = 'erased@customer.invalid';

const license = (id: string, action = '') => `/api/v1/licenses/${id}${action}`;

const activate = async (ada: Customer, licenseKey: string, fingerprint: string, name: string) => {
  const sent = { license_key: licenseKey, fingerprint, name };
  expect((await ada.asKey('POST', '/api/v1/licenses/activate', sent)).body.code).toBe('valid');
};

/**
 * An account that has moved and has an open branch, with a license of the customer, and another one that was theirs. One endpoint
 * repeats the events in its responses, and another one has not received any.
 */
const furnish = async () => {
  const ada = await sellerOn('scale');
  await setHome(ada.accountId, 'enam');
  const echo = await addEndpoint(ada, (await newReceiver({ status: 200, echoes: true })).url);
  await addEndpoint(ada, (await newReceiver({ status: 500, echoes: true })).url);
  await ada.asSession('PUT', '/api/v1/products/mill', { terms: { max_activations: 3 } });
  const create = async (fields: object, headers = {}): Promise<Json> =>
    (await ada.asSession('POST', '/api/v1/licenses/create', fields, headers)).body;
  const theirs = await create(
    {
      ...GRACE,
      product: 'mill',
      metadata: {
        note: 'ask Grace@Hopper.example',
        by: GRACE.customer_name,
        at: GRACE.customer_company,
        n: 1,
      },
    },
    { 'idempotency-key': `order-${GRACE.customer_email}` },
  );
  const passedOn = await create({ ...GRACE, product: 'mill' });
  await activate(ada, theirs.license_key, 'machine-1', MACHINE);
  await activate(ada, passedOn.license_key, 'machine-2', MACHINE);
  await ada.asSession('PATCH', license(theirs.id), { customer_name: 'Rear Admiral' });
  await ada.asSession('PATCH', license(passedOn.id), { customer_name: 'Rear Admiral' });
  await ada.asSession('PATCH', license(passedOn.id), { customer_email: LATER.customer_email });
  const { customer_name, customer_company } = LATER;
  await ada.asSession('PATCH', license(passedOn.id), { customer_name, customer_company });
  await move(ada.accountId, 'weur');
  await new Promise((resolve) => setTimeout(resolve, 2));
  await activate(ada, passedOn.license_key, 'machine-3', 'Laptop of Yolanda');
  const plain = await create(GRACE);
  await openBranch('oc', ada, plain.license_key);
  await waitUntil(
    echo.deliveries,
    (all) => all.length > 5 && all.every(({ status }) => status === 'delivered'),
  );
  await ada.asSession('PATCH', license(plain.id), { customer_name: 'Amazing Grace' });
  await verifyIn('oc', ada, plain.license_key);
  // A branch that has not answered for so long that home gives it up.
  await runInDurableObject(gateIn(ada.accountId, 2), (_gate, { storage: { sql } }) => {
    sql.exec(
      `INSERT INTO branches
       SELECT 'wnam', opening + 1, json_set(state, '$.leaseMs', 0, '$.renewedAtMs', 0) FROM branches`,
    );
  });
  await evictDurableObject(gateIn(ada.accountId, 2));
  await runInDurableObject(branch(ada.accountId, 'wnam'), (_branch, { storage: { sql } }) => {
    sql.exec("INSERT INTO copies VALUES ('license', '', 0, NULL, ?)", JSON.stringify(GRACE));
  });
  return { ada, echo, theirs, passedOn, plain };
};

const TEXTS = [...Object.values(GRACE), 'Rear Admiral', 'Amazing Grace', MACHINE];

test('an erased customer is in no table and no object, and their licenses go on working', async () => {
  const { ada, echo, theirs, passedOn, plain } = await furnish();
  expect(await findLeftovers(ada.accountId, TEXTS)).toEqual(
    expect.arrayContaining([
      'D1: idempotency_keys',
      'D1: license_changes',
      'D1: licenses',
      'gate 1: activations',
      'gate 1: licenses',
      'gate 2: licenses',
      'gate 2: seat_changes',
      'branch oc: copies',
      'branch wnam: copies',
      'outbox: deliveries',
      'outbox: event_blocks',
    ]),
  );
  const erase = () =>
    ada.asSession('POST', '/api/erase-customer', { customer_email: ' Grace@Hopper.example' });
  const { status, body } = await erase();
  expect([status, body]).toEqual([
    200,
    { licenses: 3, activations: 2, events: expect.any(Number) as number },
  ]);
  expect(body.events).toBeGreaterThan(5);
  expect(await findLeftovers(ada.accountId, TEXTS)).toEqual([]);
  expect((await erase()).body).toEqual({ licenses: 0, activations: 0, events: 0 });
  const again = await ada.asSession('POST', '/api/erase-customer', { customer_email: ERASED });
  expect(again.body.error.details).toMatchObject([{ path: 'customer_email' }]);

  expect((await ada.asSession('GET', license(theirs.id))).body).toMatchObject({
    license_key: theirs.license_key,
    customer_email: ERASED,
    customer_name: null,
    customer_company: null,
    metadata: { note: `ask ${ERASED}`, by: 'erased', at: 'erased', n: 1 },
  });
  expect((await ada.asSession('GET', license(theirs.id, '/history'))).body.data).toMatchObject([
    { action: 'created' },
  ]);
  expect((await ada.asSession('GET', license(passedOn.id))).body).toMatchObject(LATER);
  expect((await ada.asSession('GET', license(passedOn.id, '/history'))).body.data).toMatchObject([
    {
      changes: [
        { field: 'customer_name', from: null, to: LATER.customer_name },
        { field: 'customer_company', from: null, to: LATER.customer_company },
      ],
    },
    { changes: [{ field: 'customer_email', from: ERASED, to: LATER.customer_email }] },
    { action: 'created' },
  ]);
  const { data } = (await ada.asSession('GET', license(passedOn.id, '/activations'))).body;
  expect(data.map(({ name }: Json) => name)).toEqual(['Laptop of Yolanda', null]);
  expect((await ada.verify(plain.license_key)).body.valid).toBe(true);
  expect((await verifyIn('oc', ada, plain.license_key)).refused).toBe(null);
  const found = (await ada.asSession('GET', '/api/v1/licenses?q=grace')).body.data;
  expect(found).toEqual([]);
  const deliveries = await echo.deliveries();
  const responses = deliveries.flatMap(({ attempts }) => attempts.map(({ response }: Json) => response));
  expect(responses.filter((response) => response === null).length).toBeGreaterThan(5);
  expect(responses.filter((response) => response && !response.includes(LATER.customer_email))).toEqual([]);
});

test('an erasure that is cut off at any object is finished by the gate', async () => {
  useFakeClock();
  const { ada } = await furnish();
  const cut = () => {
    throw new Error('cut off');
  };
  // The account has moved: its gate is the second one.
  const noTraces = vi.spyOn(AccountGate.prototype, 'eraseTraces').mockImplementation(cut);
  const noEvents = vi.spyOn(WebhookOutbox.prototype, 'eraseEvents').mockImplementation(cut);
  await expect(eraseCustomer(ctxOf(ada.accountId), GRACE.customer_email)).rejects.toThrow('cut off');
  noTraces.mockRestore();
  await runErasureAlarm(ada.accountId, 2);
  expect(await findLeftovers(ada.accountId, TEXTS)).toEqual([
    'D1: erasures',
    'outbox: deliveries',
    'outbox: event_blocks',
  ]);
  noEvents.mockRestore();
  await finishErasure(ada.accountId, 2);
  expect(await findLeftovers(ada.accountId, TEXTS)).toEqual([]);
});

test('a deleted license is in no table and no object but the audit log and the event of its deletion', async () => {
  const { ada, theirs, plain } = await furnish();
  const rotated: Json = (await ada.asSession('POST', license(theirs.id, '/rotate-key'), {})).body;
  const texts = [theirs.id, theirs.license_key, rotated.license_key, plain.id, plain.license_key];
  expect(await findLeftovers(ada.accountId, texts)).toEqual(
    expect.arrayContaining([
      'D1: licenses',
      'gate 2: branch_log',
      'gate 2: activations',
      'outbox: event_blocks',
    ]),
  );
  for (const { id } of [theirs, plain]) {
    expect((await ada.asSession('DELETE', license(id))).body).toEqual({ id, deleted: true });
  }
  // For a day, an idempotency key remembers that its license was deleted, so that a repeat doesn't create another one.
  expect(await findLeftovers(ada.accountId, texts)).toEqual([
    'D1: audit_log',
    'D1: idempotency_keys',
    'outbox: event_blocks',
  ]);
  useFakeClock(Date.now() + DAY_MS);
  await runHourly();
  expect(await findLeftovers(ada.accountId, texts)).toEqual(['D1: audit_log', 'outbox: event_blocks']);
  await runDurableObjectAlarm(outbox(ada.accountId));
  expect((await gate(ada.accountId).listActivations(theirs.license_key, 10, null)) ?? null).toBe(null);
});

test('a change by an import of nothing but the customer leaves the history together with the customer', async () => {
  const ada = await sellerOn('scale');
  const { id, license_key } = await ada.createLicense();
  const update = (fields: object) =>
    importAs(ada, toLines([{ license_key, ...fields }]), '?on_conflict=update');
  await update({ customer_name: GRACE.customer_name, customer_email: GRACE.customer_email });
  await update({ customer_name: 'Rear Admiral' });
  await update({ customer_name: 'Amazing Grace', status: 'suspended' });
  await ada.asSession('POST', '/api/erase-customer', { customer_email: GRACE.customer_email });
  const { data } = (await ada.asSession('GET', license(id, '/history'))).body;
  const changes = data.map((entry: Json) => [entry.action, entry.import_id === null]);
  expect(changes).toEqual([
    ['suspended', false],
    ['changed', false],
    ['created', true],
  ]);
});
