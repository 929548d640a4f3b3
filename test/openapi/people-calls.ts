import type { Call } from './fixtures.ts';

const session = { as: 'session' } as const;
const anonymous = { as: 'anonymous', method: 'POST' } as const;
const CHANGE = { current_password: '{password}', password: 'another horse battery' };

/** Calls about passwords, email addresses, and sessions. Those that end sessions, change the password, or delete the account come last. */
export const PEOPLE_CALLS: Call[] = [
  {
    ...anonymous,
    path: '/api/forgot-password',
    when: 'the address is unknown',
    body: { email: 'nobody@example.com' },
    status: 202,
  },
  {
    ...anonymous,
    path: '/api/verify-email',
    when: 'the token is good',
    body: { token: '{verify token}' },
    status: 200,
  },
  {
    ...anonymous,
    path: '/api/reset-password',
    when: 'the token is good',
    body: { token: '{reset token}', password: 'another horse battery' },
    status: 200,
  },
  { ...session, method: 'POST', path: '/api/resend-verification', when: 'signed in', status: 202 },
  {
    ...session,
    method: 'POST',
    path: '/api/change-email',
    when: 'the address is free',
    body: { email: 'new-address@example.com', current_password: '{password}' },
    status: 202,
  },
  { ...session, method: 'GET', path: '/api/sessions', when: 'signed in', status: 200 },
  {
    ...session,
    method: 'DELETE',
    path: '/api/sessions/{other session}',
    when: 'the session exists',
    status: 200,
  },
  { ...session, method: 'DELETE', path: '/api/sessions', when: 'signed in', status: 200 },
  {
    ...session,
    method: 'POST',
    path: '/api/change-password',
    when: 'the password is right',
    body: CHANGE,
    status: 200,
  },
  {
    ...session,
    method: 'POST',
    path: '/api/erase-customer',
    when: 'nobody has the address',
    body: { customer_email: 'nobody@example.com' },
    status: 200,
  },
  {
    ...session,
    method: 'DELETE',
    path: '/api/account',
    when: 'the password is right',
    body: { current_password: CHANGE.password, confirm: '{email}' },
    status: 202,
  },
];
