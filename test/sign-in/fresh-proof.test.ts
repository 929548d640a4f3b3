import { beforeEach, describe, expect, test, vi } from 'vitest';
import { accountRoutes, addWebhook, nameOf, pathTo, type Route, routes } from '../http/security.ts';
import { outcomeOf, register, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { addSession, login, withToken } from '../support/sign-in.ts';
import { registerTwoFactor } from '../support/two-factor.ts';
import { WITHOUT_PROOF } from './without-proof.ts';

const MINUTE_MS = 60_000;
const WANTED = '401 reauthentication_required';

beforeEach(() => useFakeClock());

const wait = (minutes: number) => vi.advanceTimersByTime(minutes * MINUTE_MS);

type Customer = Awaited<ReturnType<typeof signUp>>;

/** What a thief would send with a stolen session, including the right password, by route. */
const SENSITIVE: Record<string, (ada: Customer) => object | undefined> = {
  'DELETE /api/account': ({ password, email }) => ({ current_password: password, confirm: email }),
  'DELETE /api/two-factor': ({ password }) => ({ current_password: password, code: '123456' }),
  'GET /api/api-keys/:id': () => undefined,
  'GET /api/export': () => undefined,
  'GET /api/webhooks/:id': () => undefined,
  'PATCH /api/stores/:id': () => ({ secret: 'whsec_dGhpZWY=' }),
  'PATCH /api/webhooks/:id': () => ({ url: 'https://thief.example.net/hook' }),
  'POST /api/api-keys/:id/rotate': () => ({}),
  'POST /api/billing-portal': () => undefined,
  'POST /api/change-email': ({ password }) => ({ current_password: password, email: 'thief@example.com' }),
  'POST /api/change-password': ({ password }) => ({ current_password: password, password: `${password}s` }),
  'POST /api/create-api-key': () => ({}),
  'POST /api/stores': () => ({ provider: 'generic', name: 'Thief', secret: 'whsec_dGhpZWY=' }),
  'POST /api/two-factor': () => undefined,
  'POST /api/two-factor/confirm': () => ({ code: '123456' }),
  'POST /api/two-factor/recovery-codes': ({ password }) => ({ current_password: password, code: '123456' }),
  'POST /api/webhooks': () => ({ url: 'https://thief.example.net/hook' }),
  'POST /api/webhooks/:id/rotate-secret': () => undefined,
};

test('each route that takes a session says whether it wants a fresh proof', () => {
  const isSensitive = ({ operation }: Route) => operation.wantsProof !== undefined;
  expect(accountRoutes.filter(isSensitive).map(nameOf).toSorted()).toEqual(Object.keys(SENSITIVE));
  const others = accountRoutes.filter((route) => !isSensitive(route)).map(nameOf);
  expect(others.toSorted()).toEqual(WITHOUT_PROOF.toSorted());
  expect(routes.filter(isSensitive)).toEqual(accountRoutes.filter(isSensitive));
});

test('ten minutes after it began, a stolen session can’t take the account', async () => {
  const ada = await signUp();
  const { ids } = await addWebhook(ada);
  wait(10);
  const stolen = accountRoutes.filter((route) => nameOf(route) in SENSITIVE);
  const paths = { ...ids, 'api-keys': ada.apiKeyId };
  for (const route of stolen) {
    const answer = await ada.asSession(route.method, pathTo(route, paths), SENSITIVE[nameOf(route)]?.(ada));
    expect([nameOf(route), outcomeOf(answer)]).toEqual([nameOf(route), WANTED]);
  }
  expect(outcomeOf(await ada.asSession('GET', '/api/account'))).toBe('200 ok');
  expect(outcomeOf(await login(ada.email, ada.password))).toBe('200 ok');
  expect((await ada.asSession('GET', '/api/api-keys')).body.data).toHaveLength(1);
});

test('a stolen session can’t make a disabled webhook send, but can stop one', async () => {
  const ada = await signUp();
  const { ids } = await addWebhook(ada);
  wait(10);
  const patch = async (body: object) =>
    outcomeOf(await ada.asSession('PATCH', `/api/webhooks/${ids.webhooks}`, body));
  expect(await patch({ status: 'disabled', description: 'Stopped' })).toBe('200 ok');
  expect(await patch({ status: 'enabled' })).toBe(WANTED);
  expect(await patch({ events: ['license.created'] })).toBe('200 ok');
});

test('a key that only verifies needs no fresh proof, and neither does a call with an API key', async () => {
  const ada = await signUp();
  wait(11);
  const created = await ada.asSession('POST', '/api/create-api-key', { scope: 'verify' });
  expect(outcomeOf(created)).toBe('201 ok');
  const { id } = created.body;
  expect(outcomeOf(await ada.asSession('GET', `/api/api-keys/${id}`))).toBe('200 ok');
  expect(outcomeOf(await ada.asSession('POST', `/api/api-keys/${id}/rotate`, {}))).toBe('201 ok');
  expect(outcomeOf(await ada.asKey('POST', '/api/create-api-key', {}))).toBe('201 ok');
  expect(outcomeOf(await ada.asKey('GET', `/api/api-keys/${ada.apiKeyId}`))).toBe('200 ok');
  expect((await ada.asKey('GET', '/api/export')).status).toBe(200);
});

test('a code that a call uses up is a fresh proof, so a single recovery code is enough for it', async () => {
  const ada = await registerTwoFactor();
  wait(11);
  const own = (code: string) => ({ current_password: ada.password, code });
  const [first = '', second = ''] = ada.recoveryCodes;
  const replaced = await ada.asSession('POST', '/api/two-factor/recovery-codes', own(first));
  expect(outcomeOf(replaced)).toBe('200 ok');
  expect(outcomeOf(await ada.asSession('DELETE', '/api/two-factor', own(second)))).toBe(
    '401 invalid_credentials',
  );
  const [next = '', last = ''] = replaced.body.recovery_codes;
  const erase = (body: object) =>
    ada.asSession('DELETE', '/api/account', { current_password: ada.password, confirm: ada.email, ...body });
  expect(outcomeOf(await erase({}))).toBe(WANTED);
  expect(outcomeOf(await ada.asSession('DELETE', '/api/two-factor', own(next)))).toBe('200 ok');
  expect(outcomeOf(await erase({ code: last }))).toBe(WANTED);
  expect(outcomeOf(await ada.asSession('GET', '/api/export'))).toBe(WANTED);
});

describe('reauthenticate', () => {
  test('with the password opens a session for ten more minutes, and no other session', async () => {
    const ada = await signUp();
    const other = await addSession(ada.accountId);
    const create = () => ada.asSession('POST', '/api/create-api-key', {});
    wait(9.9);
    expect(outcomeOf(await create())).toBe('201 ok');
    wait(20);
    const proved = await ada.asSession('POST', '/api/reauthenticate', { password: ada.password });
    expect([proved.status, proved.body]).toEqual([200, { proved_until: '2027-03-10T12:39:54.000Z' }]);
    expect(outcomeOf(await withToken(other, 'POST', '/api/create-api-key', {}))).toBe(WANTED);
    wait(9.9);
    expect(outcomeOf(await create())).toBe('201 ok');
    wait(0.1);
    expect(outcomeOf(await create())).toBe(WANTED);
  });

  test('with a code accepts it once, and only from the owner’s app or list', async () => {
    const ada = await registerTwoFactor();
    wait(11);
    const prove = (code: string) => ada.asSession('POST', '/api/reauthenticate', { code });
    expect(outcomeOf(await prove('000000'))).toBe('401 invalid_credentials');
    expect(outcomeOf(await ada.asSession('GET', '/api/export'))).toBe(WANTED);
    const code = ada.code();
    expect([outcomeOf(await prove(code)), outcomeOf(await prove(code))]).toEqual([
      '200 ok',
      '401 invalid_credentials',
    ]);
    expect((await ada.asSession('GET', '/api/export')).status).toBe(200);
    const [recovery = ''] = ada.recoveryCodes;
    expect([outcomeOf(await prove(recovery)), outcomeOf(await prove(recovery))]).toEqual([
      '200 ok',
      '401 invalid_credentials',
    ]);
  });

  test('with two-factor on refuses the password alone, right or wrong', async () => {
    const ada = await registerTwoFactor();
    wait(11);
    for (const password of [ada.password, 'wrong horse']) {
      const answer = await ada.asSession('POST', '/api/reauthenticate', { password });
      expect(outcomeOf(answer)).toBe('401 two_factor_required');
      expect(answer.body.error.details).toMatchObject([{ path: 'code' }]);
    }
    expect(outcomeOf(await ada.asSession('GET', '/api/export'))).toBe(WANTED);
    expect(outcomeOf(await login(ada.email, ada.password))).toBe('401 two_factor_required');
  });

  test('refuses a wrong password, and after ten of them the right one', async () => {
    const ada = await register();
    wait(11);
    const prove = (password: string) => ada.asSession('POST', '/api/reauthenticate', { password });
    for (let i = 0; i < 10; i += 1)
      expect(outcomeOf(await prove(`wrong horse ${i}`))).toBe('401 invalid_credentials');
    expect(outcomeOf(await prove(ada.password))).toBe('429 rate_limit_exceeded');
    expect(outcomeOf(await ada.asSession('GET', '/api/export'))).toBe(WANTED);
    expect(outcomeOf(await login(ada.email, ada.password))).toBe('200 ok');
  });

  test('takes either the password or a code, from a session', async () => {
    const ada = await signUp();
    const { password } = ada;
    const prove = async (body: unknown) =>
      outcomeOf(await ada.asSession('POST', '/api/reauthenticate', body));
    expect(await prove({})).toBe('400 invalid_request');
    expect(await prove({ password, code: '123456' })).toBe('400 invalid_request');
    expect(await prove({ code: '123456' })).toBe('400 invalid_request');
    expect(outcomeOf(await ada.asKey('POST', '/api/reauthenticate', { password }))).toBe(
      '403 insufficient_scope',
    );
  });

  test('leaves an entry in the audit log', async () => {
    const ada = await register();
    await ada.asSession('POST', '/api/reauthenticate', { password: ada.password });
    const { data } = (await ada.asSession('GET', '/api/audit-log?action=session.prove')).body;
    expect(data).toMatchObject([{ actor: { kind: 'session' } }]);
  });
});
