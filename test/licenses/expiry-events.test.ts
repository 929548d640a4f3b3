import { env } from 'cloudflare:workers';
import { drizzle } from 'drizzle-orm/d1';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AccountGate } from '../../src/gate/home/account-gate.ts';
import { sendExpiryEvents } from '../../src/licenses/expiry-events.ts';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { type Customer, signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { doWork, runHourly } from '../support/hourly.ts';
import { insertLicenses } from '../support/licenses.ts';
import { readEvents, readOutbox } from '../support/outbox.ts';
import { sellerWithWebhook } from '../support/worlds.ts';

const DAY = '2027-03-10';
/** The last days of licenses that have an event on this day. */
const EVENTS_OF_DAY = {
  '2027-04-09': ['license.expiring', 30],
  '2027-03-17': ['license.expiring', 7],
  '2027-03-11': ['license.expiring', 1],
  '2027-03-09': ['license.expired', undefined],
} as const;

const PAYLOADS = "SELECT value ->> 'payload' AS payload FROM event_blocks, json_each(events)";

const startOf = (day: string) => Date.parse(`${day}T00:00:00.000Z`);

beforeEach(async () => {
  useFakeClock(startOf(DAY));
  // Each test begins on this day anew. The licenses of other tests would be due on some of its days.
  await accountsD1.exec('DELETE FROM expiry_pass');
  await accountsD1.exec('DELETE FROM licenses');
});

afterEach(() => vi.restoreAllMocks());

/** Creates a license with this last day, which may have passed. */
const licenseThrough = async (ada: Customer, lastDay: string) => {
  const license = await ada.createLicense();
  await accountsD1.prepare('UPDATE licenses SET expires_at = ? WHERE id = ?').bind(lastDay, license.id).run();
  return license;
};

const namesOf = async ({ accountId }: Customer) => {
  const events = await readEvents(accountId);
  return events.map(({ name }) => name).filter((name) => name.startsWith('license.expir'));
};

test('a license is announced 30 days, 7 days, and 1 day before its last day, and on the day after it, once each', async () => {
  const { ada, receiver } = await sellerWithWebhook({ events: ['license.expiring', 'license.expired'] });
  const ids = new Map<string, string>();
  for (const lastDay of [...Object.keys(EVENTS_OF_DAY), '2027-03-10', '2027-03-12', '2027-03-08'])
    ids.set(lastDay, (await licenseThrough(ada, lastDay)).id);
  await ada.createLicense();
  await runHourly();
  await runHourly();
  const received = (await receiver.receives(4)).map(({ body }) => JSON.parse(body));
  const expected = Object.entries(EVENTS_OF_DAY).map(([expires_at, [event, days_left]]) => ({
    event,
    expires_at,
    license_id: ids.get(expires_at),
    ...(days_left !== undefined && { days_left }),
  }));
  expect(received).toHaveLength(4);
  for (const event of expected) expect(received).toContainEqual(expect.objectContaining(event));
});

test('suspended and revoked licenses, and those of other days, have no such event', async () => {
  const ada = await signUp();
  const suspended = await licenseThrough(ada, '2027-03-11');
  await ada.asSession('POST', `/api/v1/licenses/${suspended.id}/suspend`);
  const revoked = await licenseThrough(ada, '2027-03-09');
  await ada.asSession('POST', `/api/v1/licenses/${revoked.id}/revoke`);
  await licenseThrough(ada, '2027-03-14');
  await runHourly();
  expect(await namesOf(ada)).toEqual([]);
});

test('days on which nothing could run are made up for', async () => {
  const ada = await signUp();
  await runHourly();
  await licenseThrough(ada, '2027-03-11');
  vi.setSystemTime(startOf('2027-03-13'));
  await runHourly();
  await expect.poll(() => namesOf(ada)).toEqual(['license.expired']);
});

test('what one message leaves of a pass is sent within the same hour', async () => {
  const ada = await signUp();
  await doWork('sendExpiryEvents');
  await licenseThrough(ada, '2027-04-04');
  // A day takes two pages or more, and a message sends forty.
  vi.setSystemTime(startOf('2027-04-05'));
  let messages = 1;
  while (await doWork('sendExpiryEvents')) messages++;
  expect(messages).toBeGreaterThan(1);
  await expect
    .poll(async () => (await namesOf(ada)).toSorted())
    .toEqual(['license.expired', 'license.expiring', 'license.expiring']);
});

/** A database that commits a batch and then fails, as if the process had been killed before the answer. */
const killedAfterCommit = new Proxy(accountsD1, {
  get: (d1, name) =>
    name === 'batch'
      ? async (statements: D1PreparedStatement[]) => {
          await d1.batch(statements);
          throw new Error('killed by a test');
        }
      : Reflect.get(d1, name).bind(d1),
});

test('a run that dies after each page, before any gate knows of it, loses no event and repeats none', async () => {
  const ada = await signUp();
  await insertLicenses(ada, { count: 1_203, product: 'Orrery', expiresAt: '2027-03-11' });
  const bob = await signUp();
  await licenseThrough(bob, '2027-03-09');
  for (let run = 0; run < 3; run++)
    await sendExpiryEvents({ env, db: drizzle(killedAfterCommit) }).catch(() => {});
  await runHourly();
  await expect.poll(() => namesOf(ada)).toHaveLength(1_203);
  await expect.poll(() => namesOf(bob)).toEqual(['license.expired']);
});

/** A database in which something changes before each batch. */
const changing = (change: () => Promise<unknown>) =>
  new Proxy(accountsD1, {
    get: (d1, name) =>
      name === 'batch'
        ? async (statements: D1PreparedStatement[]) => {
            await change();
            return d1.batch(statements);
          }
        : Reflect.get(d1, name).bind(d1),
  });

test.for([
  { name: 'renewed', action: 'renew', body: { duration_days: 365 } },
  { name: 'suspended', action: 'suspend', body: undefined },
])('a license that is $name while its event is being sent has none', async ({ action, body }) => {
  const ada = await signUp();
  const license = await licenseThrough(ada, '2027-03-11');
  await licenseThrough(ada, '2027-03-09');
  const path = `/api/v1/licenses/${license.id}/${action}`;
  const statuses: number[] = [];
  const d1 = changing(async () => {
    if (statuses.length === 0) statuses.push((await ada.asSession('POST', path, body)).status);
  });
  await sendExpiryEvents({ env, db: drizzle(d1) });
  expect(statuses).toEqual([200]);
  await runHourly();
  await expect.poll(() => namesOf(ada)).toEqual(['license.expired']);
});

test('a license that changes during every try is told of as it is by then, and holds up no other account', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  const { id: license_id } = await licenseThrough(ada, '2027-03-11');
  await licenseThrough(bob, '2027-03-11');
  const path = `/api/v1/licenses/${license_id}`;
  const versions: object[] = [];
  const d1 = changing(async () => {
    const customer_email = `grace-${versions.length}@example.com`;
    await ada.asSession('PATCH', path, { customer_email });
    const { license_key } = (await ada.asSession('POST', `${path}/rotate-key`, {})).body;
    versions.push({ license_key, license_id, customer_email });
  });
  await sendExpiryEvents({ env, db: drizzle(d1) });
  await expect.poll(() => namesOf(bob)).toEqual(['license.expiring']);
  await expect.poll(() => namesOf(ada)).toEqual(['license.expiring']);
  const event = {
    event: 'license.expiring',
    timestamp: `${DAY}T00:00:00.000Z`,
    ...versions[0],
    expires_at: '2027-03-11',
    days_left: 1,
  };
  const told = await readOutbox<{ payload: string }>(ada.accountId, PAYLOADS);
  expect(told).toContainEqual({ payload: JSON.stringify(event) });
});

test('only gates with events to take are called, which were sent on this day or the day before', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  const names = new Map([ada, bob].map(({ accountId }, i) => [accountId, i === 0 ? 'ada' : 'bob']));
  await licenseThrough(ada, '2027-03-11');
  await bob.createLicense();
  let called: (string | undefined)[] = [];
  vi.spyOn(AccountGate.prototype, 'pull').mockImplementation(async function (this: AccountGate) {
    called.push(names.get((this as unknown as { ctx: DurableObjectState }).ctx.id.name ?? ''));
  });
  const days = [];
  for (let day = 0; day < 5; day++) {
    vi.setSystemTime(startOf(DAY) + day * DAY_MS);
    called = [];
    for (let run = 0; run < 2; run++) await sendExpiryEvents({ env, db: drizzle(accountsD1) });
    days.push(called.filter((name) => name !== undefined));
  }
  // On the third day the license has expired.
  expect(days).toEqual([['ada'], ['ada'], ['ada'], ['ada'], []]);
});

test('two runs at once send each event once', async () => {
  const ada = await signUp();
  await insertLicenses(ada, { count: 700, product: 'Orrery', expiresAt: '2027-03-11' });
  const send = () => sendExpiryEvents({ env, db: drizzle(accountsD1) });
  await Promise.all([send(), send(), send()]);
  await runHourly();
  await expect.poll(() => namesOf(ada)).toHaveLength(700);
});

test('the events follow the last day as it is, however often it changes', async () => {
  const ada = await signUp();
  const { id, license_key } = await licenseThrough(ada, '2027-03-17');
  const path = `/api/v1/licenses/${id}`;
  const patch = async (changes: object) =>
    expect(await ada.asSession('PATCH', path, changes)).toMatchObject({ status: 200 });
  const events = async () =>
    (await readOutbox<{ payload: string }>(ada.accountId, PAYLOADS))
      .map(({ payload }) => JSON.parse(payload))
      .filter(({ event }) => event.startsWith('license.expir'))
      .map(({ event, expires_at, days_left }) => `${event} ${expires_at} ${days_left ?? ''}`.trim());
  const passOf = async (day: string) => {
    vi.setSystemTime(startOf(day));
    await runHourly();
    await runHourly();
  };
  await passOf(DAY);
  const first = 'license.expiring 2027-03-17 7';
  await expect.poll(events).toEqual([first]);

  // Another day is another event. The same day again is none.
  await patch({ expires_at: '2027-03-18' });
  await passOf('2027-03-11');
  await expect.poll(events).toEqual([first, 'license.expiring 2027-03-18 7']);
  await ada.asSession('POST', `${path}/renew`, { expires_at: '2027-06-01' });
  await patch({ expires_at: '2027-03-18' });
  await passOf('2027-03-11');
  expect(await events()).toHaveLength(2);

  const line = JSON.stringify({ license_key, expires_at: '2027-03-12' });
  const imported = await ada.asSession('POST', '/api/v1/licenses/import?on_conflict=update', line, {
    'content-type': 'application/x-ndjson',
  });
  expect(imported.status).toBe(200);
  for (const day of ['2027-03-12', '2027-03-13', '2027-03-14', '2027-03-24']) await passOf(day);
  await expect.poll(events).toEqual([first, 'license.expiring 2027-03-18 7', 'license.expired 2027-03-12']);
});
