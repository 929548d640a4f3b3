import type { Call } from './fixtures.ts';

const session = { as: 'session', path: '/api/two-factor' } as const;
const anonymous = { as: 'anonymous', method: 'POST' } as const;
const OFF = { current_password: '{password}', code: '{next code}' };
const notNow = { status: 409, code: 'invalid_transition' } as const;
const CONFIRM = '/api/two-factor/confirm';

/** The fixtures have started the setup. */
export const TWO_FACTOR_CALLS: Call[] = [
  {
    ...session,
    method: 'POST',
    path: CONFIRM,
    when: 'the code is right',
    body: { code: '{code}' },
    status: 200,
  },
  { ...session, method: 'POST', when: 'two-factor authentication is on', ...notNow },
  { ...session, method: 'POST', path: CONFIRM, when: 'it is on', body: { code: '1' }, ...notNow },
  { ...session, method: 'DELETE', when: 'password and code are right', body: OFF, status: 200 },
  { ...session, method: 'DELETE', when: 'two-factor authentication is off', body: OFF, ...notNow },
  { ...session, method: 'POST', when: 'two-factor authentication is off', status: 200 },
  {
    ...anonymous,
    path: '/api/login',
    when: 'two-factor authentication is on',
    body: { email: '{two-factor email}', password: '{password}' },
    status: 401,
    code: 'two_factor_required',
  },
  {
    ...anonymous,
    path: '/api/login/two-factor',
    when: 'the challenge is unknown',
    body: { challenge: 'none', code: '123456' },
    status: 400,
    code: 'invalid_token',
  },
  {
    ...anonymous,
    path: '/api/login/two-factor',
    when: 'the recovery code is right',
    body: { challenge: '{challenge}', code: '{recovery code}' },
    status: 200,
  },
];
