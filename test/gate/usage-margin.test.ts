import { beforeEach, expect, test, vi } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { type Customer, outcomeOf } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { setPlan, setUsage, statistics } from '../support/gate.ts';
import { lastMailTo, mailsTo } from '../support/mails.ts';
import { callFrom, openBranch, setHome, verifyIn } from '../support/regions.ts';
import { verifyAddress } from '../support/sign-in.ts';
import { sellerWithLicense } from '../support/worlds.ts';

const LIMIT = 1_000;
const MACHINE = 'machine-0001';
const OTHER = 'machine-0002';

let ada: Customer;
let license_key: string;

beforeEach(async () => {
  useFakeClock('2027-03-01T12:00:00.000Z');
  ({ ada, license_key } = await sellerWithLicense({ terms: { max_activations: 3 } }));
});

const callAs = async (fingerprint: string | undefined, name = 'verify', key = license_key) => {
  vi.advanceTimersByTime(100);
  const answer = await ada.asKey('POST', `/api/v1/licenses/${name}`, { license_key: key, fingerprint });
  return { outcome: outcomeOf(answer), ...answer.body };
};

/** The machine has a seat, and the usage limit is reached. */
const reachLimit = async (usage = LIMIT) => {
  expect((await callAs(MACHINE, 'activate')).code).toBe('valid');
  await setUsage(ada.accountId, usage);
};

test('beyond the usage limit, a machine with a seat is answered and counted, and nobody else is', async () => {
  await reachLimit();
  const REFUSED = { outcome: '429 usage_limit_exceeded' };
  expect(await callAs(MACHINE)).toMatchObject({ valid: true, api_usage: 1_001, api_limit: LIMIT });
  expect(await callAs(MACHINE, 'activate')).toMatchObject({ valid: true, api_usage: 1_002 });
  expect(await callAs(MACHINE, 'heartbeat')).toMatchObject({ valid: true, api_usage: 1_002 });
  for (const name of ['verify', 'activate']) {
    expect(await callAs(OTHER, name)).toMatchObject(REFUSED);
    expect(await callAs(undefined, name)).toMatchObject(REFUSED);
    expect(await callAs(MACHINE, name, 'UNKNOWN-KEY')).toMatchObject(REFUSED);
  }
  const create = await ada.asKey('POST', '/api/v1/licenses/create', {});
  expect(outcomeOf(create)).toBe('429 usage_limit_exceeded');
  expect((await statistics(ada.accountId)).apiUsage).toBe(1_002);
  expect(await callAs(MACHINE, 'deactivate')).toMatchObject({ code: 'deactivated' });
});

test.for([
  { days: 29, outcome: '200 ok' },
  { days: 31, outcome: '429 usage_limit_exceeded' },
])('a machine that released its seat $days days ago gets $outcome', async ({ days, outcome }) => {
  await callAs(MACHINE, 'activate');
  await callAs(MACHINE, 'deactivate');
  vi.setSystemTime(Date.parse('2027-03-01T12:00:00.000Z') + days * DAY_MS);
  await setUsage(ada.accountId, LIMIT);
  expect((await callAs(MACHINE, 'activate')).outcome).toBe(outcome);
});

test('beyond 125% of the usage limit, nobody is counted anymore', async () => {
  await reachLimit(1_248);
  const outcomes = [];
  for (let i = 0; i < 4; i++) outcomes.push((await callAs(MACHINE)).outcome);
  expect(outcomes).toEqual(['200 ok', '200 ok', ...Array(2).fill('429 usage_limit_exceeded')]);
  expect(await callAs(MACHINE, 'heartbeat')).toMatchObject({ valid: true });
  expect((await statistics(ada.accountId)).apiUsage).toBe(1_250);
});

test('parallel calls never pass 125% of the usage limit', async () => {
  await setPlan(ada.accountId, 'pro');
  await reachLimit(124_990);
  const calls = Array.from({ length: 50 }, () =>
    ada.asKey('POST', '/api/v1/licenses/verify', { license_key, fingerprint: MACHINE }),
  );
  const answers = await Promise.all(calls);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
  expect((await statistics(ada.accountId)).apiUsage).toBe(125_000);
});

test('the owner gets an email at 80%, 100%, and 125% of the usage limit', async () => {
  // An address that isn't verified gets two emails a day.
  await verifyAddress(ada.accountId);
  await reachLimit(798);
  const subjects = () => mailsTo(ada.email).map(({ subject }) => subject);
  await callAs(MACHINE);
  expect(subjects()).toEqual([]);
  for (const [usage, percent] of [
    [799, 80],
    [999, 100],
    [1_249, 125],
  ] as const) {
    const count = mailsTo(ada.email).length + 1;
    await setUsage(ada.accountId, usage);
    await callAs(MACHINE);
    const mail = await lastMailTo(ada.email, count);
    expect(mail.subject).toBe(`Your account has used ${percent}% of its API calls`);
    expect(mail.text).toContain(`${(usage + 1).toLocaleString('en')} of its 1,000`);
  }
});

test('beyond the usage limit, a branch lets home answer for the machines of customers', async () => {
  await setPlan(ada.accountId, 'pro');
  const plain = await ada.createLicense();
  await setHome(ada.accountId, 'weur');
  await reachLimit(99_000);
  await openBranch('oc', ada, plain.license_key);
  await setUsage(ada.accountId, 101_000);
  expect((await verifyIn('oc', ada, plain.license_key)).refused).toBe('usage_limit_exceeded');
  const inOceania = (fingerprint: string) => callFrom('oc', ada, 'verify', { license_key, fingerprint });
  expect(await inOceania(MACHINE)).toMatchObject({ status: 200, body: { valid: true, api_usage: 101_001 } });
  expect((await inOceania(OTHER)).status).toBe(429);
});
