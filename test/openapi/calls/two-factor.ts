import { codeAt } from '../../support/authenticator.ts';
import { enableTwoFactor } from '../../support/two-factor.ts';
import type { Area } from '../area.ts';

/** For an account that has started the setup of two-factor authentication. */
export const TWO_FACTOR_SETUP: Area = {
  setUp: async ({ asSession }) => {
    const { secret } = (await asSession('POST', '/api/two-factor')).body;
    return { code: codeAt(secret, Date.now()) };
  },
  calls: {
    'POST /api/two-factor': [{ when: 'two-factor authentication is off', answers: '200 ok' }],
    'POST /api/two-factor/confirm': [
      { when: 'the code is right', body: { code: '{code}' }, answers: '200 ok' },
      { when: 'two-factor authentication is on', body: { code: '1' }, answers: '409 invalid_transition' },
    ],
  },
};

/** For an account with two-factor authentication. */
export const TWO_FACTOR: Area = {
  setUp: async (ada) => {
    const { email, password, code, recoveryCodes, challenge } = await enableTwoFactor(ada);
    return {
      email,
      password,
      // A code works once.
      'next code': code(1),
      'recovery code': recoveryCodes[0] ?? '',
      'another recovery code': recoveryCodes[1] ?? '',
      challenge: await challenge(),
    };
  },
  calls: {
    'POST /api/two-factor': [{ when: 'two-factor authentication is on', answers: '409 invalid_transition' }],
    'POST /api/two-factor/recovery-codes': [
      {
        when: 'password and code are right',
        body: { current_password: '{password}', code: '{next code}' },
        answers: '200 ok',
      },
      {
        when: 'the code is wrong',
        body: { current_password: '{password}', code: 'none' },
        answers: '401 invalid_credentials',
      },
    ],
    'DELETE /api/two-factor': [
      {
        when: 'password and code are right',
        body: { current_password: '{password}', code: '{next code}' },
        answers: '200 ok',
      },
      {
        when: 'two-factor authentication is off',
        body: { current_password: '{password}', code: '{next code}' },
        answers: '409 invalid_transition',
      },
    ],
    'POST /api/reauthenticate': [
      { when: 'the code is right', body: { code: '{another recovery code}' }, answers: '200 ok' },
      {
        when: 'two-factor authentication is on',
        body: { password: '{password}' },
        answers: '401 two_factor_required',
      },
      { when: 'the code is wrong', body: { code: 'none' }, answers: '401 invalid_credentials' },
    ],
    'POST /api/login': [
      {
        as: 'anonymous',
        when: 'two-factor authentication is on',
        body: { email: '{email}', password: '{password}' },
        answers: '401 two_factor_required',
      },
    ],
    'POST /api/login/two-factor': [
      {
        as: 'anonymous',
        when: 'the challenge is unknown',
        body: { challenge: 'none', code: '123456' },
        answers: '400 invalid_token',
      },
      {
        as: 'anonymous',
        when: 'the recovery code is right',
        body: { challenge: '{challenge}', code: '{recovery code}' },
        answers: '200 ok',
      },
    ],
  },
};
