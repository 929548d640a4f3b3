import { describe, expect, test, vi } from 'vitest';
import { signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';

const once = (key: string) => ({ 'idempotency-key': key });

const CHANGES = [
  { change: 'renew', method: 'POST', path: '/renew', body: { duration_days: 365 } },
  { change: 'suspend', method: 'POST', path: '/suspend', body: undefined },
  { change: 'revoke', method: 'POST', path: '/revoke', body: undefined },
  { change: 'rotate-key', method: 'POST', path: '/rotate-key', body: {} },
  { change: 'PATCH', method: 'PATCH', path: '', body: { customer_name: 'Grace' } },
];

const aLicense = async () => {
  const ada = await signUp();
  const { id } = await ada.createLicense({ expires_at: '2099-01-01' });
  const history = async () => (await ada.asSession('GET', `/api/v1/licenses/${id}/history`)).body.data.length;
  return { ada, path: `/api/v1/licenses/${id}`, history };
};

describe('with an Idempotency-Key', () => {
  test.for(CHANGES)('$change changes a license once, however often it is sent', async (sent) => {
    const { ada, path, history } = await aLicense();
    const send = () => ada.asKey(sent.method, `${path}${sent.path}`, sent.body, once('order-7'));
    const answers = await Promise.all([send(), send(), send(), send()]);
    answers.push(await send());
    const license = (await ada.asSession('GET', path)).body;
    for (const { status, body } of answers) expect([status, body]).toEqual([200, license]);
    // Its creation is an entry, too.
    expect(await history()).toBe(2);
  });
});

test('renewing by a year twice with one Idempotency-Key gives one year', async () => {
  const { ada, path } = await aLicense();
  for (const key of ['invoice-1', 'invoice-1', 'invoice-2', 'invoice-1']) {
    await ada.asKey('POST', `${path}/renew`, { duration_days: 365 }, once(key));
  }
  // 2100 is no leap year.
  expect((await ada.asSession('GET', path)).body.expires_at).toBe('2101-01-01');
});

test('an Idempotency-Key belongs to one call on one license with one body', async () => {
  const { ada, path } = await aLicense();
  const { id: otherId } = await ada.createLicense();
  expect((await ada.asKey('POST', `${path}/renew`, { duration_days: 30 }, once('one'))).status).toBe(200);
  const others: [string, string, object?][] = [
    ['POST', `${path}/renew`, { duration_days: 31 }],
    ['POST', `/api/v1/licenses/${otherId}/renew`, { duration_days: 30 }],
    ['POST', `${path}/suspend`],
    ['POST', '/api/v1/licenses/create', {}],
    ['POST', '/api/create-api-key', {}],
  ];
  for (const [method, route, body] of others) {
    const { status, body: answer } = await ada.asSession(method, route, body, once('one'));
    expect([route, status, answer.error?.code]).toEqual([route, 409, 'idempotency_conflict']);
  }
});

test('a refused change leaves its Idempotency-Key free', async () => {
  const { ada, path } = await aLicense();
  const reinstate = () => ada.asKey('POST', `${path}/reinstate`, undefined, once('again'));
  expect((await reinstate()).body.error.code).toBe('invalid_transition');
  await ada.asKey('POST', `${path}/suspend`);
  expect((await reinstate()).body.status).toBe('active');
  await ada.asKey('POST', `${path}/suspend`);
  // A repeat changes nothing, and shows the license as it is.
  expect((await reinstate()).body.status).toBe('suspended');
});

test.for([
  { change: 'renew', method: 'POST', path: '/renew' },
  { change: 'PATCH', method: 'PATCH', path: '' },
])(
  'a repeated $change answers as before also when its last day has passed',
  async ({ method, path: call }) => {
    useFakeClock('2027-03-10T23:59:00.000Z');
    const { ada, path } = await aLicense();
    const send = (key: string) =>
      ada.asKey(method, `${path}${call}`, { expires_at: '2027-03-10' }, once(key));
    const first = await send('today');
    vi.setSystemTime('2027-03-11T00:01:00.000Z');
    const { status, body } = await send('today');
    expect([status, body]).toEqual([200, { ...first.body, status: 'expired' }]);
    expect((await send('another')).body.error.details).toEqual([
      { path: 'expires_at', message: 'must be today or later' },
    ]);
  },
);
