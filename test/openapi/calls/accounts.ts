import { userTokens } from '../../../src/db/schema.ts';
import { newUserToken } from '../../../src/users/user-tokens.ts';
import type { Json } from '../../support/client.ts';
import { publicCtx } from '../../support/databases.ts';
import { addSession } from '../../support/sign-in.ts';
import type { Area } from '../area.ts';

const NEW_PASSWORD = 'another horse battery';

/** Registering, signing in, and the account, its password, email address, and sessions. */
export const ACCOUNTS: Area = {
  setUp: async ({ accountId, email, password, asSession }) => {
    const tokenFor = async (purpose: 'reset_password' | 'verify_email' | 'restore_email') => {
      const { token, row } = newUserToken(publicCtx, accountId, purpose, email);
      await publicCtx.firstDb.insert(userTokens).values(row);
      return token;
    };
    await addSession(accountId);
    const sessions: Json[] = (await asSession('GET', '/api/sessions')).body.data;
    return {
      email,
      password,
      'other session': sessions.find(({ current }) => !current).id,
      'reset token': await tokenFor('reset_password'),
      'verify token': await tokenFor('verify_email'),
      'restore token': await tokenFor('restore_email'),
    };
  },
  calls: {
    'POST /api/register': [
      {
        as: 'anonymous',
        when: 'the email address is new',
        body: { email: 'grace@new.example', password: '0123456789', name: 'G' },
        answers: '201 ok',
      },
      {
        as: 'anonymous',
        when: 'the email address is taken',
        body: { email: '{email}', password: '{password}' },
        answers: '409 email_taken',
      },
    ],
    'POST /api/login': [
      {
        as: 'anonymous',
        when: 'the password is correct',
        body: { email: '{email}', password: '{password}' },
        answers: '200 ok',
      },
      {
        as: 'anonymous',
        when: 'the password is wrong',
        body: { email: '{email}', password: '' },
        answers: '401 invalid_credentials',
      },
    ],
    'POST /api/logout': [{ as: 'key', when: 'called with an API key', answers: '200 ok' }],
    'POST /api/verify-email': [
      {
        as: 'anonymous',
        when: 'neither a session nor the password comes with the token',
        body: { token: '{verify token}' },
        answers: '401 reauthentication_required',
      },
      {
        as: 'anonymous',
        when: 'the token and the password are good',
        body: { token: '{verify token}', password: '{password}' },
        answers: '200 ok',
      },
    ],
    'POST /api/resend-verification': [{ when: 'the address is not verified', answers: '202 ok' }],
    'POST /api/forgot-password': [
      {
        as: 'anonymous',
        when: 'the address is unknown',
        body: { email: 'nobody@example.com' },
        answers: '202 ok',
      },
    ],
    'POST /api/reset-password': [
      {
        as: 'anonymous',
        when: 'the token is good',
        body: { token: '{reset token}', password: NEW_PASSWORD },
        answers: '200 ok',
      },
    ],
    'POST /api/change-password': [
      {
        when: 'the password is right',
        body: { current_password: '{password}', password: NEW_PASSWORD },
        answers: '200 ok',
      },
    ],
    'POST /api/change-email': [
      {
        when: 'the address is free',
        body: { email: 'new-address@example.com', current_password: '{password}' },
        answers: '202 ok',
      },
    ],
    'GET /api/sessions': [{ when: 'signed in', answers: '200 ok' }],
    'DELETE /api/sessions': [{ when: 'signed in', answers: '200 ok' }],
    'DELETE /api/sessions/{other session}': [{ when: 'the session exists', answers: '200 ok' }],
    'PATCH /api/account': [
      {
        when: 'the settings change',
        body: { name: 'Ada', allowed_origins: ['https://shop.example.com'] },
        answers: '200 ok',
      },
    ],
    'DELETE /api/account': [
      {
        when: 'the password is right',
        body: { current_password: '{password}', confirm: '{email}' },
        answers: '202 ok',
      },
    ],
    'POST /api/home-region': [
      { when: 'the region is another one', body: { region: 'oc' }, answers: '202 ok' },
      {
        when: 'the account is moving or has moved',
        body: { region: 'weur' },
        answers: '409 invalid_transition',
      },
    ],
    'POST /api/erase-customer': [
      { when: 'nobody has the address', body: { customer_email: 'nobody@example.com' }, answers: '200 ok' },
    ],
    'POST /api/restore-email': [
      { as: 'anonymous', when: 'the token is good', body: { token: '{restore token}' }, answers: '200 ok' },
    ],
  },
};
